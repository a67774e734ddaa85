package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/umpirehq/umpire"
	umpirev1 "github.com/umpirehq/umpire/internal/api/umpire/v1"
)

// anyJSON compares JSON values semantically.
var anyJSON = cmp.Transformer("json", func(raw json.RawMessage) any { return decoded(raw) })

// signature ignores the author, which the server sets.
var signature = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".By" }, cmp.Ignore())

func decoded(data []byte) (v any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return fmt.Sprintf("not JSON: %v: %s", err, data)
	}
	return v
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// same reports differences between a message and the JSON of its record. It does not use
// the server's own conversion. A field that only one of them has is a difference.
func same(t *testing.T, path string, want any, m protoreflect.Message) {
	t.Helper()
	switch known := m.Interface().(type) {
	case *timestamppb.Timestamp:
		if at, err := time.Parse(time.RFC3339Nano, want.(string)); err != nil || !at.Equal(known.AsTime()) {
			t.Errorf("%s: want %v, got %v", path, want, known.AsTime())
		}
		return
	case *structpb.Struct, *structpb.Value:
		text, err := protojson.Marshal(known)
		if diff := cmp.Diff(want, decoded(text)); diff != "" || err != nil {
			t.Errorf("%s: (-want +got) %v\n%s", path, err, diff)
		}
		return
	}
	object := want.(map[string]any)
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		name := string(field.Name())
		value, given := object[name]
		delete(object, name)
		if given && !m.Has(field) && !field.HasPresence() && zero(value) {
			continue // a message cannot distinguish zero from missing
		}
		if given != m.Has(field) {
			t.Errorf("%s.%s: in JSON %v, in the message %v", path, name, given, m.Has(field))
			continue
		}
		sameField(t, path+"."+name, value, field, m.Get(field))
	}
	for name := range object {
		t.Errorf("%s.%s: the schema has no such field", path, name)
	}
}

func zero(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) == 0
	case json.Number:
		return v == "0"
	}
	return v == nil || v == "" || v == false
}

func sameField(t *testing.T, path string, want any, field protoreflect.FieldDescriptor, got protoreflect.Value) {
	t.Helper()
	one := func(path string, want any, got protoreflect.Value) {
		if m, ok := got.Interface().(protoreflect.Message); ok {
			same(t, path, want, m)
		} else if fmt.Sprint(want) != got.String() {
			t.Errorf("%s: want %v, got %v", path, want, got)
		}
	}
	switch {
	case want == nil:
	case field.IsList():
		list := want.([]any)
		if len(list) != got.List().Len() {
			t.Errorf("%s: want %d members, got %d", path, len(list), got.List().Len())
			return
		}
		for i := range list {
			one(fmt.Sprintf("%s[%d]", path, i), list[i], got.List().Get(i))
		}
	case field.IsMap():
		got.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			one(path+"."+k.String(), want.(map[string]any)[k.String()], v)
			return true
		})
	default:
		one(path, want, got)
	}
}

// rpcClients are the protocols of a generated client.
var rpcClients = map[string][]connect.ClientOption{
	"grpc":         {connect.WithGRPC()},
	"grpc-web":     {connect.WithGRPCWeb()},
	"connect":      {},
	"grpc, gzip":   {connect.WithGRPC(), connect.WithSendGzip()},
	"connect gzip": {connect.WithSendGzip()},
}

func (w *world) gateClient(t testing.TB, token string, options ...connect.ClientOption) umpirev1.GateServiceClient {
	t.Helper()
	return umpirev1.NewGateServiceClient(w.http(t, true), w.base, append(options, bearer(token))...)
}

func (w *world) timelineClient(t testing.TB, token string, options ...connect.ClientOption) umpirev1.TimelineServiceClient {
	t.Helper()
	return umpirev1.NewTimelineServiceClient(w.http(t, true), w.base, append(options, bearer(token))...)
}

// N-12, N-52, N-95, N-111: one event, in every protocol.
func TestP0DEventFields(t *testing.T) {
	t.Parallel()
	t.Run("grpc_sse_permission_fields_match_timeline", eventHasTheSameFieldsOnEveryWay)
}

func eventHasTheSameFieldsOnEveryWay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		event := filled[umpire.Event]()
		event.Session, event.Project = "s1", "p1"
		w.gate.tell(event)
		want := encoded(t, event)

		listed := w.call(t, "TimelineService/List", credentials.Agent, `{"session_id":"s1"}`)
		if diff := cmp.Diff(fmt.Sprintf(`{"events":[%s],"more":false}`, want), string(listed.body)); diff != "" {
			t.Errorf("Connect JSON (-want +got):\n%s", diff)
		}
		if got := w.firstSSE(t, "/v1/events?session=s1", credentials.Agent); got != string(want) {
			t.Errorf("SSE data = %s, want %s", got, want)
		}
		got, err := w.client(t, credentials.Agent).Events(t.Context(), umpire.Filter{Session: "s1"})
		if diff := cmp.Diff([]umpire.Event{event}, got, anyJSON); diff != "" || err != nil {
			t.Errorf("Go client: %v (-want +got):\n%s", err, diff)
		}
		for name, options := range rpcClients {
			timeline := w.timelineClient(t, credentials.Agent, options...)
			list, err := timeline.List(t.Context(), connect.NewRequest(&umpirev1.EventQuery{SessionId: "s1"}))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			same(t, name, decoded(want), list.Msg.GetEvents()[0].ProtoReflect())
			ctx, cancel := context.WithCancel(t.Context())
			stream, err := timeline.Watch(ctx, connect.NewRequest(&umpirev1.EventQuery{SessionId: "s1"}))
			if err != nil || !stream.Receive() {
				t.Fatalf("%s: %v %v", name, err, stream.Err())
			}
			same(t, name+" stream", decoded(want), stream.Msg().ProtoReflect())
			cancel()
			for stream.Receive() {
			}
			_ = stream.Close()
		}
	})
}

// firstSSE returns the data of the first event of a stream, and leaves the stream.
func (w *world) firstSSE(t testing.TB, path, token string, headers ...string) string {
	t.Helper()
	lines, leave := w.openSSE(t, path, token, headers...)
	defer leave()
	for {
		name, value, _ := strings.Cut(readLine(t, lines), ": ")
		if name == "data" {
			return value
		}
	}
}

// openSSE opens a stream over HTTP/1.1.
func (w *world) openSSE(t testing.TB, path, token string, headers ...string) (lines *bufio.Reader, leave func()) {
	t.Helper()
	return w.openSSEOver(t, false, path, token, headers...)
}

func (w *world) openSSEOver(t testing.TB, h2 bool, path, token string, headers ...string) (lines *bufio.Reader, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := w.http(t, h2).Do(request) //nolint:bodyclose // leave does
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s", path, response.Status)
	}
	return bufio.NewReader(response.Body), func() { cancel(); response.Body.Close() }
}

func readLine(t testing.TB, lines *bufio.Reader) string {
	t.Helper()
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the stream ended: %v (%q)", err, line)
	}
	return strings.TrimRight(line, "\n")
}

// D-06, N-52: one pending call, in every protocol. The tool's extra fields are next to
// the others in JSON, and in their own field over protobuf.
func TestPendingHasTheSameFieldsOnEveryWay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		want := encoded(t, filledPending())
		listed := w.call(t, "GateService/ListPending", credentials.Agent, `{}`)
		if diff := cmp.Diff(fmt.Sprintf(`{"pending":[%s],"more":false}`, want), string(listed.body)); diff != "" {
			t.Errorf("Connect JSON (-want +got):\n%s", diff)
		}
		got, err := w.client(t, credentials.Agent).Pending(t.Context(), umpire.PendingQuery{})
		if diff := cmp.Diff([]umpire.Pending{filledPending()}, got, anyJSON); diff != "" || err != nil {
			t.Errorf("Go client: %v (-want +got):\n%s", err, diff)
		}
		for name, options := range rpcClients {
			list, err := w.gateClient(t, credentials.Agent, options...).
				ListPending(t.Context(), connect.NewRequest(&umpirev1.PendingQuery{}))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fixed := decoded(want).(map[string]any)
			fixed["extra"] = map[string]any{"customMeta": fixed["customMeta"], "extra": fixed["extra"]}
			delete(fixed, "customMeta")
			same(t, name, fixed, list.Msg.GetPending()[0].ProtoReflect())
		}
	})
}

// schema pairs the types of the root package with their messages.
var schema = []struct {
	value   any
	message proto.Message
}{
	{filled[umpire.Call](), &umpirev1.Call{}},
	{filled[umpire.Decision](), &umpirev1.Decision{}},
	{filled[umpire.Submission](), &umpirev1.Submission{}},
	{filled[umpire.Batch](), &umpirev1.Batch{}},
	{filled[umpire.PendingQuery](), &umpirev1.PendingQuery{}},
	{filled[umpire.Answer](), &umpirev1.Answer{}},
	{filled[umpire.Standing](), &umpirev1.Standing{}},
	{filled[umpire.Start](), &umpirev1.Start{}},
	{filled[umpire.Started](), &umpirev1.Started{}},
	{filled[umpire.Result](), &umpirev1.Result{}},
	{filled[umpire.TrialRequest](), &umpirev1.TrialRequest{}},
	{filled[umpire.BegunTrial](), &umpirev1.BegunTrial{}},
	{filled[umpire.TrialReport](), &umpirev1.TrialReport{}},
	{filled[umpire.TrialSettlement](), &umpirev1.TrialSettlement{}},
	{filled[umpire.Opening](), &umpirev1.Opening{}},
	{filled[umpire.Resumption](), &umpirev1.Resumption{}},
	{filled[umpire.LatestQuery](), &umpirev1.LatestRequest{}},
	{filled[umpire.Session](), &umpirev1.Session{}},
	{filled[umpire.SessionQuery](), &umpirev1.SessionQuery{}},
	{filled[umpire.ModeChange](), &umpirev1.ModeChange{}},
	{filled[umpire.Prompt](), &umpirev1.Prompt{}},
	{filled[umpire.Prompted](), &umpirev1.Prompted{}},
	{filled[umpire.Conversation](), &umpirev1.Conversation{}},
	{filled[umpire.Reply](), &umpirev1.Reply{}},
	{filled[umpire.RuleStatus](), &umpirev1.RuleStatus{}},
	{filled[umpire.Event](), &umpirev1.Event{}},
	{filled[umpire.Filter](), &umpirev1.EventQuery{}},
}

func TestSchemaHasTheFieldsOfTheTypes(t *testing.T) {
	t.Parallel()
	for _, row := range schema {
		t.Run(reflect.TypeOf(row.value).Name(), func(t *testing.T) {
			t.Parallel()
			compareSchema(t, row.message.ProtoReflect().Descriptor(), decoded(encoded(t, row.value)))
		})
	}
}

// notInJSON are message fields that the JSON of their type does not have: a rule's source, which
// responses add, a client's support for pages, and the bytes of names that are not valid text.
var notInJSON = map[protoreflect.FullName]bool{
	"umpire.v1.PendingQuery.paged": true, "umpire.v1.SessionQuery.paged": true, "umpire.v1.EventQuery.paged": true,
	"umpire.v1.Rule.source": true, "umpire.v1.Rule.file": true, "umpire.v1.Rule.line": true,
	"umpire.v1.Access.target_bytes": true, "umpire.v1.Access.resolved_bytes": true,
}

func compareSchema(t *testing.T, m protoreflect.MessageDescriptor, value any) {
	t.Helper()
	if strings.HasPrefix(string(m.FullName()), "google.protobuf.") {
		return
	}
	object, ok := value.(map[string]any)
	if !ok {
		t.Errorf("%s: is no object in JSON: %v", m.FullName(), value)
		return
	}
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		inner, given := object[string(field.Name())]
		delete(object, string(field.Name()))
		if !given {
			if !notInJSON[field.FullName()] {
				t.Errorf("%s: the type has no such field", field.FullName())
			}
			continue
		}
		switch {
		case field.IsMap():
			if element := field.MapValue().Message(); element != nil {
				compareSchema(t, element, inner.(map[string]any)["key"])
			}
		case field.IsList() && field.Message() != nil:
			compareSchema(t, field.Message(), inner.([]any)[0])
		case field.Message() != nil:
			compareSchema(t, field.Message(), inner)
		case field.Kind() == protoreflect.Int64Kind, field.Kind() == protoreflect.StringKind, field.Kind() == protoreflect.BoolKind:
		default:
			t.Errorf("%s: the server cannot read a %s", field.FullName(), field.Kind())
		}
	}
	for name := range object {
		t.Errorf("%s.%s: the schema has no such field", m.FullName(), name)
	}
}
