package server

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/umpirehq/umpire"
)

// idTypes are the types of ids. Every field of these types is checked, so procedures
// cannot forget it.
var idTypes = map[reflect.Type]bool{
	reflect.TypeFor[umpire.SessionID](): true, reflect.TypeFor[umpire.BatchID](): true,
	reflect.TypeFor[umpire.CallID]():    true,
	reflect.TypeFor[umpire.RequestID](): true, reflect.TypeFor[umpire.ProjectID](): true,
	reflect.TypeFor[umpire.RuleID](): true, reflect.TypeFor[umpire.TrialID](): true,
}

// checkIDs refuses a request with an invalid id, and names its field.
func checkIDs(request any) error { return checkIDsIn("", reflect.ValueOf(request)) }

func checkIDsIn(field string, v reflect.Value) error {
	switch v.Kind() { //nolint:exhaustive // other kinds hold no ids
	case reflect.String:
		if idTypes[v.Type()] {
			return umpire.CheckID(field, v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return checkIDsIn(field, v.Elem())
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind != reflect.Struct && kind != reflect.String {
			return nil
		}
		for i := range v.Len() {
			if err := checkIDsIn(fmt.Sprintf("%s[%d]", field, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkIDsOf(field, v)
	}
	return nil
}

func checkIDsOf(field string, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if field != "" {
			name = field + "." + name
		}
		if err := checkIDsIn(name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}
