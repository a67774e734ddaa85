package server

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/umpirehq/umpire/internal/view/catalogue"
)

// A route is the handler of a path and the role that it needs.
type route struct {
	handler http.Handler
	role    role
	// stream marks a request that lasts until one side ends it.
	stream bool
}

// A procedure makes the handler of one procedure from its name.
type procedure func(name string) http.Handler

// routes maps paths to routes.
type routes map[string]route

func (r routes) addProcedure(name string, role role, p procedure) {
	r[name] = route{handler: p(name), role: role}
}

// unary makes a procedure from a function. The types of its argument and its result have
// the JSON of the messages. The checks come first: each may refuse the request.
func unary[In, Out any](
	limit int, f func(context.Context, In) (Out, error), in, out proto.Message,
	checks ...func(context.Context, *In) error,
) procedure {
	u := unaryProcedure{
		limit: limit, in: in, out: out, empty: func() any { return new(In) },
		call: func(ctx context.Context, in any) (any, error) {
			request := in.(*In) //nolint:forcetypeassert // made by empty
			for _, check := range checks {
				if err := check(ctx, request); err != nil {
					return nil, err
				}
			}
			out, err := f(ctx, *request)
			if err == nil && !exchangeOf(ctx).codes {
				out = catalogue.In(catalogue.English, out)
			}
			return out, err
		},
	}
	return u.handler
}

// A unaryProcedure is a procedure without its types.
type unaryProcedure struct {
	limit   int
	in, out proto.Message
	empty   func() any // returns a pointer to an argument
	call    func(context.Context, any) (any, error)
}

func (u *unaryProcedure) handler(name string) http.Handler {
	return connect.NewUnaryHandler(name, func(
		ctx context.Context, r *connect.Request[body],
	) (*connect.Response[body], error) {
		if r.Msg.err != nil {
			return nil, noteFailure(ctx, r.Msg.err)
		}
		if err := checkIDs(r.Msg.value); err != nil {
			return nil, noteFailure(ctx, err)
		}
		out, err := u.call(ctx, r.Msg.value)
		if err != nil {
			return nil, noteFailure(ctx, err)
		}
		return connect.NewResponse(&body{value: out, message: u.out}), nil
	}, append(handlerOptions(u.limit), bodiesOf(u.in, u.empty))...)
}

// bodiesOf sets the type into which request bodies are decoded.
func bodiesOf(m proto.Message, empty func() any) connect.HandlerOption {
	return connect.WithRequestInitializer(func(_ connect.Spec, request any) error {
		if b, ok := request.(*body); ok {
			b.value, b.message = empty(), m
		}
		return nil
	})
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
