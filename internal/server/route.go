package server

import (
	"context"
	"net/http"

	"connectrpc.com/connect"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A route is where a path leads and whose credential it takes.
type route struct {
	handler http.Handler
	role    role
	// stream marks what goes on until somebody ends it.
	stream bool
}

// A procedure makes the handler of one procedure, once its name is known.
type procedure func(name string) http.Handler

// A routes has the route of each path.
type routes map[string]route

func (r routes) addProcedure(name string, role role, p procedure) {
	r[name] = route{handler: p(name), role: role}
}

// unary makes a procedure of a function. The types of its argument and its result
// have the JSON of the messages.
func unary[MI, MO, In, Out any, PI message[MI], PO message[MO]](
	limit int, f func(context.Context, In) (Out, error),
) procedure {
	type request = connect.Request[body[In, MI, PI]]
	type response = connect.Response[body[Out, MO, PO]]
	return func(name string) http.Handler {
		return connect.NewUnaryHandler(name, func(ctx context.Context, r *request) (*response, error) {
			if r.Msg.err != nil {
				return nil, noteFailure(ctx, r.Msg.err)
			}
			if err := checkIDs(r.Msg.value); err != nil {
				return nil, noteFailure(ctx, err)
			}
			out, err := f(ctx, r.Msg.value)
			if err != nil {
				return nil, noteFailure(ctx, err)
			}
			if !exchangeOf(ctx).codes {
				out = catalogue.In(catalogue.English, out)
			}
			return connect.NewResponse(&body[Out, MO, PO]{value: out}), nil
		}, handlerOptions(limit)...)
	}
}

func handlerOptions(limit int) []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithCodec(protoCodec{}),
		connect.WithCodec(jsonCodec{name: "json"}),
		connect.WithCodec(jsonCodec{name: "json; charset=utf-8"}),
		connect.WithReadMaxBytes(limit),
		connect.WithCompressMinBytes(compressFrom),
	}
}
