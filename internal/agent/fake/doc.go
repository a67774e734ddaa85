// Package fake plays the other sides of umpire, for tests: the providers of models, MCP servers, editors and
// agents that speak the Agent Client Protocol, a person's browser, an ntfy server and a push service.
//
// [StartModels] starts a server on the loopback that plays a script over the real interfaces of providers.
// [RunSuite] is the suite that every provider's model must pass against it.
//
//	server := fake.StartModels(turns, 0)
//	defer server.Close()
//	// ANTHROPIC_BASE_URL=server.URL, OPENAI_BASE_URL=server.URL+"/v1", both keys fake.ModelKey
//
// It speaks Anthropic's Messages and OpenAI's Responses and Chat Completions, with or without
// streaming, and is as strict as they are: it rejects requests that they would reject, with their
// status and their words, and keeps them in [ModelServer.Refused]. Stricter checks are documented in the
// code.
//
// [NewMCP] returns an MCP server that misbehaves, and [AgentMain] and [EditorMain] are the ends
// between which a proxy of the Agent Client Protocol stands.
//
// # The console
//
// [StartBrowser] starts a headless Chromium, which [Page] drives by the DevTools protocol over a pipe.
// UMPIRE_PICTURES names a folder for the pictures that tests take. [DrawTerminal] draws the screen of
// a terminal. A [Signer] signs requests like the console's pages, for tests without a browser:
//
//	signer, err := fake.NewSigner()
//	… // post {"token": …, "key": signer.PublicKey()} to /sign-in
//	err = signer.Admit(body)
//	err = signer.Sign(request, "http://127.0.0.1:7576")
//
// [Ntfy] and [PushService] are fakes of an ntfy server and of a push service. The first was written
// from the documented wire format (docs.ntfy.sh: publish as JSON, action buttons, subscribe as JSON
// stream, authentication by access tokens), and not compared with the real server. It is stricter
// than the real one: it refuses undocumented fields.
package fake
