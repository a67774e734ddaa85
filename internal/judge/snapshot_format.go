package judge

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/umpirehq/umpire"
)

// A snapshot's file is a JSON list of strings: its format, the fields, and each file with its
// stamp. Preparing encoding/json to decode a struct would take longer than the rest of the
// read, so only rules, if there are any, are stored as JSON inside one of the strings.

// snapshotFormat begins a file and includes the format version. The names of the fields follow,
// so a program with different fields does not misread the file.
const snapshotFormat = "umpire-snapshot 6:"

// listSeparator separates the items of a list: no folder or id contains it.
const listSeparator = "\x00"

// marshal encodes a snapshot as a file.
func (s *Snapshot) marshal() ([]byte, error) {
	fields := s.fields()
	texts := []string{headOf(fields)}
	for _, f := range fields {
		text, err := f.text()
		if err != nil {
			return nil, umpire.Errorf("%s: %w", f.name, err)
		}
		texts = append(texts, text)
	}
	for _, f := range s.Files {
		texts = append(texts, f.Path, f.Stamp)
	}
	return json.Marshal(texts)
}

// unmarshal decodes a snapshot's file. Any deviation from the format is an error.
func unmarshal(data []byte) (*Snapshot, error) {
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, err
	}
	s := &Snapshot{}
	fields := s.fields()
	head := headOf(fields)
	if len(texts) < len(fields)+1 || texts[0] != head || (len(texts)-len(fields))%2 != 1 {
		return nil, umpire.Errorf("want %q and a stamp for each file", head)
	}
	for i, f := range fields {
		if err := f.read(texts[i+1]); err != nil {
			return nil, umpire.Errorf("%s: %w", f.name, err)
		}
	}
	for files := texts[len(fields)+1:]; len(files) > 0; files = files[2:] {
		s.Files = append(s.Files, SnapshotFile{Path: files[0], Stamp: files[1]})
	}
	return s, nil
}

// A field is one value of a snapshot.
type field struct {
	name string
	at   reflect.Value
}

func headOf(fields []field) string {
	names := []string{snapshotFormat}
	for _, f := range fields {
		names = append(names, f.name)
	}
	return strings.Join(names, " ")
}

// fields returns all fields of a snapshot except Files, in order.
func (s *Snapshot) fields() []field {
	all := fieldsOf(nil, "", reflect.ValueOf(s).Elem())
	return all[:len(all)-1] // Files come last
}

func fieldsOf(all []field, prefix string, v reflect.Value) []field {
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		if at := v.Field(i); at.Kind() == reflect.Struct {
			all = fieldsOf(all, name+".", at)
		} else {
			all = append(all, field{name, at})
		}
	}
	return all
}

// text encodes a value. A zero list is "".
func (f field) text() (string, error) {
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](f.at.Addr()); ok {
		text, err := m.MarshalText()
		return string(text), err
	}
	switch f.at.Kind() { //nolint:exhaustive // settings have no other kinds
	case reflect.String:
		return f.at.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(f.at.Bool()), nil
	case reflect.Int64:
		return strconv.FormatInt(f.at.Int(), 10), nil
	case reflect.Uint8:
		return strconv.FormatUint(f.at.Uint(), 10), nil
	case reflect.Slice:
		return f.list()
	}
	return "", umpire.Errorf("a snapshot cannot contain %s", f.at.Type())
}

func (f field) list() (string, error) {
	switch {
	case f.at.IsNil():
		return "", nil
	case f.at.Type().Elem().Kind() != reflect.String:
		data, err := json.Marshal(f.at.Interface())
		return string(data), err
	}
	texts := make([]string, f.at.Len())
	for i := range texts {
		texts[i] = f.at.Index(i).String()
	}
	return strings.Join(texts, listSeparator), nil
}

// read decodes a value from its text.
func (f field) read(text string) error {
	if m, ok := reflect.TypeAssert[encoding.TextUnmarshaler](f.at.Addr()); ok {
		return m.UnmarshalText([]byte(text))
	}
	switch f.at.Kind() { //nolint:exhaustive // settings have no other kinds
	case reflect.String:
		f.at.SetString(text)
		return nil
	case reflect.Bool:
		is, err := strconv.ParseBool(text)
		f.at.SetBool(is)
		return err
	case reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		f.at.SetInt(n)
		return err
	case reflect.Uint8:
		n, err := strconv.ParseUint(text, 10, 8)
		f.at.SetUint(n)
		return err
	case reflect.Slice:
		return f.readList(text)
	}
	return umpire.Errorf("a snapshot cannot contain %s", f.at.Type())
}

func (f field) readList(text string) error {
	switch {
	case text == "":
		return nil
	case f.at.Type().Elem().Kind() != reflect.String:
		return json.Unmarshal([]byte(text), f.at.Addr().Interface())
	}
	texts := strings.Split(text, listSeparator)
	list := reflect.MakeSlice(f.at.Type(), len(texts), len(texts))
	for i := range texts {
		list.Index(i).SetString(texts[i])
	}
	f.at.Set(list)
	return nil
}
