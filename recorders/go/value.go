//go:build unix

package omnilink

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"sort"
	"unicode/utf8"
)

// A Set is recorded as a set, in which order and repetition mean nothing. Its values must differ.
type Set []any

const deepest = 32

func encodeAll(to []byte, values []any) []byte {
	for _, value := range values {
		to = encode(to, value, 0)
	}
	return to
}

// encode appends a value: nil, a truth value, a number, a string, a slice, a Set or a map.
func encode(to []byte, value any, depth int) []byte {
	switch value := value.(type) {
	case nil:
		return append(to, 0)
	case bool:
		if value {
			return append(to, 2)
		}
		return append(to, 1)
	case int:
		return appendInt(to, int64(value))
	case int64:
		return appendInt(to, value)
	case uint64:
		if value > math.MaxInt64 {
			return appendString(append(to, 9), fmt.Sprint(value))
		}
		return appendInt(to, int64(value))
	case *big.Int:
		if value.IsInt64() {
			return appendInt(to, value.Int64())
		}
		return appendString(append(to, 9), value.String())
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			panic("omnilink: only finite numbers can be recorded")
		}
		return binary.LittleEndian.AppendUint64(append(to, 4), math.Float64bits(value))
	case string:
		if len(value) < 32 && utf8.ValidString(value) {
			return append(append(to, byte(0x20+len(value))), value...)
		}
		return appendString(append(to, 5), value)
	case Set:
		return appendItems(append(to, 7), reflect.ValueOf(value), depth)
	}
	return encodeOther(to, reflect.ValueOf(value), depth)
}

// encodeOther appends a value whose type is known only by reflection.
func encodeOther(to []byte, value reflect.Value, depth int) []byte {
	switch value.Kind() {
	case reflect.Bool:
		return encode(to, value.Bool(), depth)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return encode(to, value.Int(), depth)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return encode(to, value.Uint(), depth)
	case reflect.Float32, reflect.Float64:
		return encode(to, value.Float(), depth)
	case reflect.String:
		return encode(to, value.String(), depth)
	case reflect.Slice, reflect.Array:
		return appendItems(append(to, 6), value, depth)
	case reflect.Map:
		return appendPairs(append(to, 8), value, depth)
	}
	panic(fmt.Sprintf("omnilink: a value of type `%s` cannot be recorded", value.Type()))
}

func appendItems(to []byte, value reflect.Value, depth int) []byte {
	expectDepth(depth)
	to = binary.AppendUvarint(to, uint64(value.Len()))
	for i := 0; i < value.Len(); i++ {
		to = encode(to, value.Index(i).Interface(), depth+1)
	}
	return to
}

// appendPairs sorts the pairs of a map by their bytes, so that equal maps have equal bytes.
func appendPairs(to []byte, value reflect.Value, depth int) []byte {
	expectDepth(depth)
	pairs := make([]string, 0, value.Len())
	for entries := value.MapRange(); entries.Next(); {
		pair := encode(nil, entries.Key().Interface(), depth+1)
		pairs = append(pairs, string(encode(pair, entries.Value().Interface(), depth+1)))
	}
	sort.Strings(pairs)
	to = binary.AppendUvarint(to, uint64(len(pairs)))
	for _, pair := range pairs {
		to = append(to, pair...)
	}
	return to
}

func expectDepth(depth int) {
	if depth == deepest {
		panic("omnilink: values nest at most 32 deep")
	}
}

func appendInt(to []byte, number int64) []byte {
	if -16 <= number && number <= 175 {
		return append(to, byte(number+0x50))
	}
	return binary.AppendVarint(append(to, 3), number)
}

func appendString(to []byte, text string) []byte {
	if !utf8.ValidString(text) {
		panic("omnilink: a string is not UTF-8")
	}
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}
