// Package console shows what waits, what happened, sessions, rules, grants and figures in a browser, and
// takes a person's answers.
//
//	c := console.New(console.Config{Gate: server.Local(gate, "console"), GateOf: …, NewCode: …})
//	defer c.Close()
//	err := c.Listen(ctx, "127.0.0.1:0")
//	err = c.Open(ctx, "zh-CN", "Ana", false, terminal) // prints a link, and codes
//
// It makes no decisions: it shows data of the gate by package view, and hands answers to the gate
// unchanged. It listens on a loopback address, and only after Listen or Open.
// [Console.ListenRemote] also serves it over HTTPS to browsers on other machines, which see everything
// and stop calls. With a passkey they approve a call, once.
//
// A person signs in by a link that is shown on a terminal and works once, for a minute, or, on another
// machine, by a passkey. The link's token is in the fragment of the address, which no browser sends;
// the page posts it with the public key of a pair that it made. A sign-in is valid for half a day, in one
// browser of the gate's own user, as far as the system can identify the process at the other end. It bears the
// name of its person, if the link or the passkey has one: the gate notes it with what that browser answers.
//
// Every request has to name exactly the address of the listener, against DNS rebinding, and to come
// from the console's own pages. A navigation loads a shell without content. All else is signed by the key, which no
// script can read and only pages of the same origin can use. There are no cookies: those go to every port of a host.
// On this machine an answer of high risk, or one that lasts, needs a code: it is shown on
// the terminals that follow the console, and works once.
//
// A page lists at most 60 questions. It learns by server-sent events that something has changed,
// and fetches its content again.
package console
