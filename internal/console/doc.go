// Package console shows waiting questions, the timeline, sessions, rules, grants and figures in a
// browser, and takes a person's answers.
//
//	c := console.New(console.Config{Gate: server.Local(gate, "console"), GateOf: …, NewCode: …})
//	defer c.Close()
//	err := c.Listen(ctx, "127.0.0.1:0")
//	err = c.Open(ctx, "zh-CN", "Ana", false, terminal) // prints a link, and codes
//
// It makes no decisions: it shows the gate's data by package view, and passes answers to the gate
// unchanged. It listens on a loopback address, and only after Listen or Open.
// [Console.ListenRemote] also serves it over HTTPS to browsers on other machines, which see
// everything and can deny calls. With a passkey they can approve a call, once.
//
// A person signs in by a link that is shown on a terminal and works once, for a minute, or, on another
// machine, by a passkey. The link's token is in the fragment of the address, which browsers do not send;
// the page posts it with the public key of a new key pair. A sign-in is valid for half a day, in one
// browser of the gate's own user, as far as the system can identify the process at the other end. It has
// its person's name, if the link or the passkey has one: the gate records it with that browser's answers.
//
// Every request must name exactly the address of the listener, against DNS rebinding, and come from the
// console's own pages. A navigation loads a shell without content. All other requests are signed by the
// key, which no script can read and only pages of the same origin can use. There are no cookies, because
// browsers send those to every port of a host. On this machine an answer of high risk, or a lasting one,
// needs a code: it is shown on the terminals that follow the console, and works once.
//
// A page lists at most 60 questions. Server-sent events tell it to fetch its content again.
package console
