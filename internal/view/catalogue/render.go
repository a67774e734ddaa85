package catalogue

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/umpirehq/umpire"
)

// In returns a copy of a value in which every [umpire.Phrase] is its text in a language,
// for output to readers that do not know the codes.
func In[T any](l *Language, value T) T {
	v := reflect.ValueOf(&value).Elem()
	l.render(v)
	return value
}

// render replaces the phrases in v, after copying shared parts.
func (l *Language) render(v reflect.Value) {
	if !holdsPhrases(v.Type()) {
		return
	}
	switch v.Kind() { //nolint:exhaustive // other kinds hold no phrases
	case reflect.String:
		v.SetString(l.Text(umpire.Phrase(v.String())))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				l.render(v.Field(i))
			}
		}
		if e, is := reflect.TypeAssert[*umpire.Event](v.Addr()); is {
			e.Data = l.renderData(e)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		for i := range own.Len() {
			l.render(own.Index(i))
		}
		v.Set(own)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Elem().Type())
		own.Elem().Set(v.Elem())
		l.render(own.Elem())
		if v.Kind() == reflect.Interface {
			own = own.Elem()
		}
		v.Set(own)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			part := reflect.New(value.Type()).Elem()
			part.Set(value)
			l.render(part)
			own.SetMapIndex(key, part)
		}
		v.Set(own)
	}
}

// renderData returns an event's data with its phrases rendered: a batch's submission has
// the reason of each call. Everything else stays as written.
func (l *Language) renderData(e *umpire.Event) json.RawMessage {
	var submitted struct {
		Calls []struct {
			Reason json.RawMessage `json:"reason"`
		} `json:"calls"`
	}
	if e.Kind != umpire.EventBatchSubmitted || json.Unmarshal(e.Data, &submitted) != nil {
		return e.Data
	}
	data := e.Data
	for _, call := range submitted.Calls {
		var reason umpire.Phrase
		if json.Unmarshal(call.Reason, &reason) != nil || reason == "" {
			continue
		}
		text, err := json.Marshal(l.Text(reason))
		if err != nil {
			continue
		}
		const member = `"reason":`
		data = bytes.ReplaceAll(data, append([]byte(member), call.Reason...), append([]byte(member), text...))
	}
	return data
}

// phraseful keeps, by type, whether its values may hold phrases.
var phraseful sync.Map

func holdsPhrases(t reflect.Type) bool {
	if known, ok := phraseful.Load(t); ok {
		holds, _ := known.(bool)
		return holds
	}
	holds := mayHold(t, map[reflect.Type]bool{})
	phraseful.Store(t, holds)
	return holds
}

func mayHold(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() { //nolint:exhaustive // other kinds hold no phrases
	case reflect.Interface:
		return true
	case reflect.String:
		return t == reflect.TypeFor[umpire.Phrase]()
	case reflect.Slice, reflect.Pointer, reflect.Map:
		return mayHold(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() && mayHold(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
