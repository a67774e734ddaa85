package server

import (
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/umpirehq/umpire"
)

// wellKnown are messages with their own JSON form.
var wellKnown = map[protoreflect.FullName]bool{
	"google.protobuf.Struct": true, "google.protobuf.Value": true,
	"google.protobuf.ListValue": true, "google.protobuf.Timestamp": true,
}

// appendMessage encodes a message with the names of the schema and integers as numbers,
// which is the JSON of the root package's types. protojson would write integers as
// strings. Unset fields are left out.
func appendMessage(dst []byte, m protoreflect.Message) ([]byte, error) {
	if wellKnown[m.Descriptor().FullName()] {
		text, err := protojson.Marshal(m.Interface())
		return append(dst, text...), err
	}
	dst = append(dst, '{')
	first := true
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !m.Has(field) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(strconv.AppendQuote(dst, string(field.Name())), ':')
		var err error
		if dst, err = appendField(dst, field, m.Get(field)); err != nil {
			return nil, umpire.Errorf("%s: %w", field.Name(), err)
		}
	}
	return append(dst, '}'), nil
}

func appendField(dst []byte, field protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch {
	case field.IsList():
		return appendList(dst, field, v.List())
	case field.IsMap():
		return appendMap(dst, field.MapValue(), v.Map())
	}
	return appendValue(dst, field, v)
}

func appendList(dst []byte, field protoreflect.FieldDescriptor, list protoreflect.List) ([]byte, error) {
	dst = append(dst, '[')
	for i := range list.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, field, list.Get(i)); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendMap(dst []byte, field protoreflect.FieldDescriptor, entries protoreflect.Map) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	var err error
	entries.Range(func(key protoreflect.MapKey, v protoreflect.Value) bool {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, err = appendString(dst, key.String()); err == nil {
			dst, err = appendValue(append(dst, ':'), field, v)
		}
		return err == nil
	})
	return append(dst, '}'), err
}

func appendValue(dst []byte, field protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch kind := field.Kind(); kind { //nolint:exhaustive // the schema has only these; a test fails on others
	case protoreflect.StringKind:
		return appendString(dst, v.String())
	case protoreflect.BoolKind:
		return strconv.AppendBool(dst, v.Bool()), nil
	case protoreflect.Int64Kind:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case protoreflect.BytesKind:
		encoded, err := json.Marshal(v.Bytes())
		return append(dst, encoded...), err
	case protoreflect.MessageKind:
		return appendMessage(dst, v.Message())
	default:
		return nil, umpire.Errorf("fields of kind %s are not read", kind)
	}
}

func appendString(dst []byte, text string) ([]byte, error) {
	quoted, err := json.Marshal(text)
	return append(dst, quoted...), err
}
