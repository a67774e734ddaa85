// Package agenttest plays the other side of the built-in agent and of its proxies, for tests: the
// providers of models, MCP servers, and editors and agents that speak the Agent Client Protocol.
//
// [Start] starts a server on the loopback that plays a script over the real interfaces of providers.
// [RunSuite] is the suite that every provider's model must pass against it.
//
//	server := agenttest.Start(turns, 0)
//	defer server.Close()
//	// ANTHROPIC_BASE_URL=server.URL, OPENAI_BASE_URL=server.URL+"/v1", both keys agenttest.Key
//
// It speaks Anthropic's Messages and OpenAI's Responses and Chat Completions, with or without
// streaming, and is as strict as they are: it rejects requests that they would reject, with their
// status and their words, and keeps them in [Server.Refused]. Stricter checks are documented in the
// code.
//
// [NewMCP] returns an MCP server that misbehaves, and [AgentMain] and [EditorMain] are the ends
// between which a proxy of the Agent Client Protocol stands.
package agenttest
