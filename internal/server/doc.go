// Package server serves a gate over the network: gRPC, gRPC-Web and Connect JSON (POST
// /umpire.v1.SERVICE/METHOD), and server-sent events (GET /v1/events), on one listener.
//
//	listener, err := server.Listen(ctx, "unix:"+path, false)
//	err = server.New(server.Config{Gate: gate, Credentials: credentials}).Serve(ctx, listener)
//
// A record has the same form in every protocol: the JSON of the root package's types,
// field by field. Over protobuf it is that JSON, carried by the messages of
// proto/umpire/v1.
//
// # Clients
//
// A [Client] speaks to a gate in another process, in the gate's own terms: it has the gate's methods, takes and
// returns the root package's types, and returns the same errors.
//
//	c, err := server.Dial("unix:"+path, token)
//	defer c.Close()
//	batch, err := c.Submit(ctx, submission)
//	if errors.Is(err, umpire.ErrFenced) { ... }
//
// It speaks Connect's JSON and server-sent events over HTTP/1.1, using only the standard library to start quickly in
// a program that makes one call and ends.
//
// # Authorization
//
// Every route needs a credential, `Authorization: Bearer TOKEN`. With an agent's token, a
// client can have calls decided, run its session and watch it. With a person's token, it
// can do everything, including answering questions, changing rules or a mode, and
// deleting sessions. All agents share one token, which does not distinguish them.
//
// On a unix socket, and on Linux for TCP from this machine, the client must be the same
// user. A person's credential is refused if the client's process runs under tighter
// restrictions than the gate, in another pid namespace, or below a process that runs a
// session. For a client on another machine only the credential counts. On TCP, the Host
// must be one of the listener's own names, and requests from another origin are refused.
//
// # Watching
//
// Watchers receive events in the order of their sequence numbers, without gaps. A watcher
// that cannot keep up, and every watcher when the gate drains, receives an event named
// resume with the number to continue from. It is never dropped silently, unless it has
// stopped reading altogether.
//
// # Metrics
//
// [Figures] turns the timeline into figures for Prometheus:
//
//	figures := server.NewFigures(pending)
//	go figures.Run(ctx, gate.Watch(ctx, umpire.Filter{}))
//	http.Handle("/metrics", figures.Handler())
//
// Labels come from closed sets: a tool appears by its class, a decision by its source. No
// command, path, id or text becomes a label.
//
// | name | meaning |
// |---|---|
// | umpire_decisions_total{verdict,source} | decisions and answers |
// | umpire_calls_total{tool}, umpire_prompts_total{tool} | calls submitted, and those that were asked about |
// | umpire_prompts_per_100_calls | how often people are asked |
// | umpire_asks_pending | questions that wait now |
// | umpire_ask_wait_seconds | how long a question waited for a person |
// | umpire_hasty_answers_total | answers in less than a second, too fast to have read the question |
// | umpire_executions_unknown_total | calls that may or may not have run |
// | umpire_resume_redelivered_total | results that were handed out again |
// | umpire_rules_reload_total{result} | rule files that changed, and whether all is well |
// | umpire_evaluate_seconds | how long deciding one call took |
package server

//go:generate go run -C ../../proto github.com/bufbuild/buf/cmd/buf@v1.71.0 generate
