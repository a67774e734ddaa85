// Package consoletest plays the other ends of the console and of its notices, for tests.
//
// [Start] starts a headless Chromium, which [Page] drives by the DevTools protocol over a pipe.
// UMPIRE_PICTURES names a folder for the pictures that tests take. [DrawTerminal] draws the screen of
// a terminal. A [Signer] signs requests like the console's pages, for tests without a browser:
//
//	signer, err := consoletest.NewSigner()
//	… // post {"token": …, "key": signer.PublicKey()} to /sign-in
//	err = signer.Admit(body)
//	err = signer.Sign(request, "http://127.0.0.1:7576")
//
// [Ntfy] and [PushService] are fakes of an ntfy server and of a push service. The first was written
// from the documented wire format (docs.ntfy.sh: publish as JSON, action buttons, subscribe as JSON
// stream, authentication by access tokens), and not compared with the real server. It is stricter
// than the real one: it refuses undocumented fields.
package consoletest
