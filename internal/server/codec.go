package server

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/strictjson"
)

// A carrier is a value on its way over the wire. A value that cannot be read is kept
// as the carrier's error, so that the handler answers it as it answers others.
type carrier interface {
	appendJSON(dst []byte) ([]byte, error)
	appendProto(dst []byte) ([]byte, error)
	readJSON(data []byte)
	readProto(data []byte)
}

// A body carries a value, whose JSON has the fields of a message. It is of one type for all
// procedures, since each instance of Connect's generic handlers weighs some 20 KB.
type body struct {
	value   any           // of a request, a pointer to it
	message proto.Message // is one, and stays empty
	err     error         // of reading
}

// A shaper is a value whose JSON is not that of its message as it is; shape returns what is.
type shaper interface{ shape() (any, error) }

func (b *body) appendJSON(dst []byte) ([]byte, error) {
	data, err := json.Marshal(b.value)
	return append(dst, data...), err
}

func (b *body) appendProto(dst []byte) ([]byte, error) {
	shown := b.value
	if s, ok := shown.(shaper); ok {
		shaped, err := s.shape()
		if err != nil {
			return nil, err
		}
		shown = shaped
	}
	data, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	return appendProtoOf(dst, data, b.message.ProtoReflect().New().Interface())
}

// appendProtoOf appends a JSON object in the form of a message.
func appendProtoOf(dst, data []byte, m proto.Message) ([]byte, error) {
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, m); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{}.MarshalAppend(dst, m)
}

func (b *body) readJSON(data []byte) { b.err = readJSON(data, b.value) }

func (b *body) readProto(data []byte) {
	m := b.message.ProtoReflect().New()
	if err := proto.Unmarshal(data, m.Interface()); err != nil {
		b.err = invalid("the request is no %s: %v", m.Descriptor().FullName(), err)
		return
	}
	text, err := appendMessage(nil, m)
	if err != nil {
		b.err = invalid("the request: %v", err)
		return
	}
	b.readJSON(text)
}

// readJSON reads one JSON object. Fields that are not known are passed over, as
// the contract says.
func readJSON(data []byte, into any) error {
	fields, err := strictjson.ReadObject(data)
	if err != nil {
		return invalid("the request: %v", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return nameField(data, reflect.TypeOf(into).Elem(), err)
	}
	return checkNames(fields)
}

// checkNames refuses a request, or a call in it, with a field that stands twice in another
// case: two readers could read it as two different ones.
func checkNames(fields strictjson.Object) error {
	if err := fields.CheckSpelling(); err != nil {
		return invalid("%v", err)
	}
	var calls []json.RawMessage
	if json.Unmarshal(fields["calls"], &calls) != nil {
		calls = nil // a field that this request does not know
	}
	for i := range calls {
		call, err := strictjson.ReadObject(calls[i])
		if err == nil {
			err = call.CheckSpelling()
		}
		if err != nil {
			return invalid("calls[%d]: %v", i, err)
		}
	}
	return nil
}

// nameField says which field made reading fail. encoding/json names it for a
// wrong type only.
func nameField(data []byte, t reflect.Type, err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		name := wrong.Field
		if outer, field, nested := strings.Cut(name, "."); nested && isEmbedded(t, outer) {
			name = field
		}
		return invalid("%s: want %s, got %s", name, kindName(wrong.Type), wrong.Value)
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(data, &fields) != nil || t.Kind() != reflect.Struct {
		return invalid("the request: %v", err)
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		text, given := fields[name]
		if !given {
			continue
		}
		if err := json.Unmarshal(text, reflect.New(field.Type).Interface()); err != nil {
			return invalid("%s: %v", name, err)
		}
	}
	return invalid("the request: %v", err)
}

// isEmbedded reports whether a name is that of an embedded struct, which encoding/json puts before the names
// of its fields.
func isEmbedded(t reflect.Type, name string) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	field, ok := t.FieldByName(name)
	return ok && field.Anonymous
}

// kindName is what a field wants, in the words of JSON.
func kindName(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the others are no fields of a request
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	default:
		return "something else"
	}
}

// A jsonCodec is Connect's JSON in the form of the contract.
type jsonCodec struct{ name string }

// Name returns the name that the content type bears.
func (c jsonCodec) Name() string { return c.name }

// Marshal writes a carrier.
func (c jsonCodec) Marshal(v any) ([]byte, error) { return c.marshalAppend(nil, v) }

// marshalAppend spares a copy, and keeps shared bytes out of Connect's buffers.
func (jsonCodec) marshalAppend(dst []byte, v any) ([]byte, error) {
	c, ok := v.(carrier)
	if !ok {
		return nil, umpire.Errorf("%T is no carrier", v)
	}
	return c.appendJSON(dst)
}

// Unmarshal reads a carrier.
func (jsonCodec) Unmarshal(data []byte, v any) error {
	c, ok := v.(carrier)
	if !ok {
		return umpire.Errorf("%T is no carrier", v)
	}
	c.readJSON(data)
	return nil
}

// A protoCodec is protobuf: of carriers, and of the messages that Connect itself
// sends.
type protoCodec struct{}

// Name returns the name that the content type bears.
func (protoCodec) Name() string { return "proto" }

// Marshal writes a carrier or a message.
func (c protoCodec) Marshal(v any) ([]byte, error) { return c.marshalAppend(nil, v) }

// marshalAppend spares a copy, and keeps shared bytes out of Connect's buffers.
func (protoCodec) marshalAppend(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case carrier:
		return v.appendProto(dst)
	case proto.Message:
		return proto.MarshalOptions{}.MarshalAppend(dst, v)
	}
	return nil, umpire.Errorf("%T is neither carrier nor message", v)
}

// Unmarshal reads a carrier or a message.
func (protoCodec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case carrier:
		v.readProto(data)
		return nil
	case proto.Message:
		return proto.Unmarshal(data, v)
	}
	return umpire.Errorf("%T is neither carrier nor message", v)
}
