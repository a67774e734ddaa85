package server

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/config/strictjson"
)

// A carrier is a value to be encoded or decoded. A decoding error is kept in the carrier
// and answered by the handler like any other error.
type carrier interface {
	encodeJSON() ([]byte, error)
	encodeProto() ([]byte, error)
	readJSON(data []byte)
	readProto(data []byte)
}

// A body carries a value whose JSON has the fields of a message. All procedures share
// this type, because each instance of Connect's generic handlers takes about 20 KB.
type body struct {
	value   any           // for a request, a pointer to it
	message proto.Message // an example of the message; stays empty
	err     error         // from decoding
}

// A shaper is a value that needs a conversion before its JSON fits its message.
type shaper interface{ shape() (any, error) }

func (b *body) encodeJSON() ([]byte, error) { return json.Marshal(b.value) }

func (b *body) encodeProto() ([]byte, error) {
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
	return encodeProtoOf(data, b.message.ProtoReflect().New().Interface())
}

// encodeProtoOf encodes a JSON object as a message.
func encodeProtoOf(data []byte, m proto.Message) ([]byte, error) {
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, m); err != nil {
		return nil, err
	}
	return proto.Marshal(m)
}

func (b *body) readJSON(data []byte) { b.err = readJSON(data, b.value) }

func (b *body) readProto(data []byte) {
	m := b.message.ProtoReflect().New()
	if err := proto.Unmarshal(data, m.Interface()); err != nil {
		b.err = invalid("the request is not a %s: %v", m.Descriptor().FullName(), err)
		return
	}
	text, err := appendMessage(nil, m)
	if err != nil {
		b.err = invalid("the request: %v", err)
		return
	}
	b.readJSON(text)
}

// readJSON decodes one JSON object. It ignores unknown fields, as the API specifies.
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

// checkNames refuses a request, or a call in it, with two fields that differ only in
// case, because readers could interpret them differently.
func checkNames(fields strictjson.Object) error {
	if err := fields.CheckSpelling(); err != nil {
		return invalid("%v", err)
	}
	var calls []json.RawMessage
	if json.Unmarshal(fields["calls"], &calls) != nil {
		calls = nil // a field unknown to this request
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

// nameField finds the field that could not be decoded. encoding/json names it only for a
// wrong type.
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

// isEmbedded reports whether a name is that of an embedded struct, which encoding/json
// puts before the names of its fields.
func isEmbedded(t reflect.Type, name string) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	field, ok := t.FieldByName(name)
	return ok && field.Anonymous
}

// kindName returns the JSON name of the type that a field needs.
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

// A jsonCodec is Connect's JSON codec with the API's encoding.
type jsonCodec struct{ name string }

// Name returns the name in the content type.
func (c jsonCodec) Name() string { return c.name }

// Marshal encodes a carrier. Connect reuses the bytes as a buffer.
func (jsonCodec) Marshal(v any) ([]byte, error) {
	c, ok := v.(carrier)
	if !ok {
		return nil, umpire.Errorf("unexpected type %T: want a carrier", v)
	}
	return c.encodeJSON()
}

// Unmarshal decodes a carrier.
func (jsonCodec) Unmarshal(data []byte, v any) error {
	c, ok := v.(carrier)
	if !ok {
		return umpire.Errorf("unexpected type %T: want a carrier", v)
	}
	c.readJSON(data)
	return nil
}

// A protoCodec is the protobuf codec for carriers and for Connect's own messages.
type protoCodec struct{}

// Name returns the name in the content type.
func (protoCodec) Name() string { return "proto" }

// Marshal encodes a carrier or a message. Connect reuses the bytes as a buffer.
func (protoCodec) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case carrier:
		return v.encodeProto()
	case proto.Message:
		return proto.Marshal(v)
	}
	return nil, umpire.Errorf("unexpected type %T: want a carrier or a message", v)
}

// Unmarshal decodes a carrier or a message.
func (protoCodec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case carrier:
		v.readProto(data)
		return nil
	case proto.Message:
		return proto.Unmarshal(data, v)
	}
	return umpire.Errorf("unexpected type %T: want a carrier or a message", v)
}
