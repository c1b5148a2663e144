// Package pointers tells whether values of a type can keep memory alive: a
// queue need not zero cells of a type that cannot, and a ring must not hold
// one that can.
package pointers

import "reflect"

// In reports whether a value of type t holds a pointer of any kind.
func In(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return false
	case reflect.Array:
		return t.Len() > 0 && In(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if In(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return true
	}
}
