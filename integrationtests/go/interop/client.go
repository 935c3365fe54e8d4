// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	"csi-proxy/integrationtests/report"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The client module has one Go type per version and message, alike in all but the package and what was
// renamed. The tests call them by their newest names, so that each case stands once for all versions.

type closer interface{ Close() error }

type version struct {
	group     string
	name      string
	connect   func() (closer, error)
	connectAt func(path string) (closer, error)
}

func maker[T closer](f func() (T, error)) func() (closer, error) {
	return func() (closer, error) { return f() }
}

func pathMaker[T closer](f func(string) (T, error)) func(string) (closer, error) {
	return func(path string) (closer, error) { return f(path) }
}

// formerRPCs has the names that RPCs had in the first versions, formerFields those of message fields.
var (
	formerRPCs = map[string]string{
		"CreateSymlink":             "LinkPath",
		"IsSymlink":                 "IsMountPoint",
		"GetDiskStats":              "DiskStats",
		"SetDiskState":              "SetAttachState",
		"GetDiskState":              "GetAttachState",
		"UnmountVolume":             "DismountVolume",
		"GetVolumeStats":            "VolumeStats",
		"GetDiskNumberFromVolumeID": "GetVolumeDiskNumber",
		"GetVolumeIDFromTargetPath": "GetVolumeIDFromMount",
	}
	formerFields = map[string][]string{
		"IsSymlink":  {"IsMountPoint"},
		"DiskNumber": {"DiskID", "DiskId"},
		"TargetPath": {"Path", "Mount"},
		"SizeBytes":  {"Size"},
		"TotalBytes": {"DiskSize", "VolumeSize"},
		"UsedBytes":  {"VolumeUsedSize"},
	}
)

type fields map[string]interface{}

// caller makes calls on one client of one version.
type caller struct {
	version version
	client  closer
}

// named returns what this version calls an RPC; empty when it has none such.
func (c caller) named(rpc string) string {
	for _, name := range []string{rpc, formerRPCs[rpc]} {
		if name != "" && reflect.ValueOf(c.client).MethodByName(name).IsValid() {
			return name
		}
	}
	return ""
}

func (c caller) has(rpc string) bool { return c.named(rpc) != "" }

// field finds a field of a message by its newest name.
func field(message reflect.Value, name string) reflect.Value {
	for _, candidate := range append([]string{name}, formerFields[name]...) {
		if found := message.Elem().FieldByName(candidate); found.IsValid() {
			return found
		}
	}
	return reflect.Value{}
}

// set fills a field. Disk numbers travelled as text in the first versions. fields fill a message.
func set(to reflect.Value, value interface{}) {
	if inner, ok := value.(fields); ok {
		to.Set(reflect.New(to.Type().Elem()))
		for name, value := range inner {
			set(field(to, name), value)
		}
		return
	}
	if number, ok := value.(uint32); ok && to.Kind() == reflect.String {
		value = strconv.FormatUint(uint64(number), 10)
	}
	to.Set(reflect.ValueOf(value).Convert(to.Type()))
}

// call makes an RPC. A request field that this version does not have is an error of the tests, except for
// those in optional, which exist in some versions only.
func (c caller) call(ctx context.Context, rpc string, in, optional fields, opts ...grpc.CallOption) (answer, error) {
	method := reflect.ValueOf(c.client).MethodByName(c.named(rpc))
	if !method.IsValid() {
		panic(fmt.Sprintf("%s has no %s", c.version.name, rpc))
	}
	request := reflect.New(method.Type().In(1).Elem())
	for name, value := range in {
		set(field(request, name), value)
	}
	for name, value := range optional {
		if to := field(request, name); to.IsValid() {
			set(to, value)
		}
	}
	arguments := []reflect.Value{reflect.ValueOf(ctx), request}
	for _, opt := range opts {
		arguments = append(arguments, reflect.ValueOf(opt))
	}
	results := method.Call(arguments)
	err, _ := results[1].Interface().(error)
	c.count(rpc, err)
	if err != nil {
		return answer{}, err
	}
	got := answer{results[0]}
	return got, got.legacyError()
}

// rpcs returns the names that this version has for its RPCs.
func (c caller) rpcs() []string {
	var names []string
	for client, i := reflect.TypeOf(c.client), 0; i < client.NumMethod(); i++ {
		if name := client.Method(i).Name; name != "Close" {
			names = append(names, name)
		}
	}
	return names
}

// takesInput tells whether the request of an RPC has any field.
func (c caller) takesInput(rpc string) bool {
	request := reflect.ValueOf(c.client).MethodByName(rpc).Type().In(1).Elem()
	for i := 0; i < request.NumField(); i++ {
		if _, is := request.Field(i).Tag.Lookup("protobuf"); is {
			return true
		}
	}
	return false
}

// calls counts those of all versions.
var calls report.Calls

// count takes a call into account that was answered or refused; one that was interrupted is neither.
func (c caller) count(rpc string, err error) {
	v, name := c.version, c.named(rpc)
	switch status.Code(err) {
	case codes.OK:
		calls.Answered(v.group, v.name, name)
	case codes.Unknown:
		calls.Refused(v.group, v.name, name)
	case codes.Internal: // what is no message is the only bad input of an RPC without any
		if !c.takesInput(name) {
			calls.Refused(v.group, v.name, name)
		}
	}
}

// answer is a response message.
type answer struct{ message reflect.Value }

func (a answer) flag(name string) bool   { return field(a.message, name).Bool() }
func (a answer) text(name string) string { return field(a.message, name).String() }

// number reads a number, whatever its type is in this version; -1 when it is none.
func (a answer) number(name string) int64 {
	value := field(a.message, name)
	switch value.Kind() {
	case reflect.Uint32:
		return int64(value.Uint())
	case reflect.Int32, reflect.Int64:
		return value.Int()
	}
	number, err := strconv.ParseInt(value.String(), 10, 64)
	if err != nil {
		return -1
	}
	return number
}

func (a answer) texts(name string) []string {
	texts, _ := field(a.message, name).Interface().([]string)
	return texts
}

// list reads a list of messages.
func (a answer) list(name string) []answer {
	var messages []answer
	for list, i := field(a.message, name), 0; i < list.Len(); i++ {
		messages = append(messages, answer{list.Index(i)})
	}
	return messages
}

// byDisk reads a map of messages that has disk numbers, or their text, as keys.
func (a answer) byDisk(name string) map[uint32]reflect.Value {
	messages := map[uint32]reflect.Value{}
	for entries := field(a.message, name).MapRange(); entries.Next(); {
		number, err := strconv.ParseUint(fmt.Sprint(entries.Key().Interface()), 10, 32)
		if err == nil {
			messages[uint32(number)] = entries.Value()
		}
	}
	return messages
}

// legacyError reads the error string in the responses of the first versions, which a server never sets.
func (a answer) legacyError() error {
	text := a.message.Elem().FieldByName("Error")
	if text.IsValid() && text.String() != "" {
		return fmt.Errorf("the response has an error text: %q", text.String())
	}
	return nil
}
