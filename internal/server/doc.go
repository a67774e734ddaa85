// Package server puts a gate on the wire: gRPC, gRPC-Web and Connect JSON
// (POST /umpire.v1.SERVICE/METHOD), and server-sent events (GET /v1/events), on
// one listener.
//
//	listener, err := server.Listen(ctx, "unix:"+path, false)
//	err = server.New(server.Config{Gate: gate, Credentials: credentials}).Serve(ctx, listener)
//
// A record has one form on every way: the JSON of the root package's types, field
// by field. Over protobuf it is that JSON, carried by the messages of
// proto/umpire/v1.
//
// # Who may do what
//
// Every route wants a credential, `Authorization: Bearer TOKEN`. An agent's lets it
// have calls decided, run its session and watch it. A person's may do everything,
// and answering a question, changing rules or a mode and deleting a session take
// it. All agents share one token: they are not told apart from each other.
//
// On a unix socket, and on Linux for TCP from this machine, the peer must be the same
// user, and a person's credential is refused to a process that runs under tighter
// restrictions than the gate, in another pid namespace, or below a process that runs a
// session. A peer on another machine shows its credential and nothing more. On TCP the
// Host must be one of the listener's own, and nothing from another origin is served.
//
// # Watching
//
// Events reach a watcher in the order of their sequence numbers and none is left
// out. A watcher that cannot keep up, and every watcher when the gate drains, is
// told the number to go on from, as an event named resume. It is never dropped
// without a word, unless it has stopped reading altogether.
package server

//go:generate go run -C ../../proto github.com/bufbuild/buf/cmd/buf@v1.71.0 generate
