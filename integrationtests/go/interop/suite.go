// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"csi-proxy/integrationtests/report"
	"csi-proxy/integrationtests/testbed"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const callTimeout = 20 * time.Second

// systemError is a Win32 error with the text that an English Windows has for it. Wine has texts of its own.
type systemError struct {
	number  syscall.Errno
	windows string
}

var (
	errorFileNotFound  = systemError{2, "The system cannot find the file specified."}
	errorDirNotEmpty   = systemError{145, "The directory is not empty."}
	errorAlreadyExists = systemError{183, "Cannot create a file when that file already exists."}
)

// suite holds the cases of one version. Each works in a directory of its own below dir.
type suite struct {
	*report.Report
	caller
	bed  *testbed.Bed // nil where there is none
	dir  string
	next int
}

// scratch makes a new empty directory.
func (s *suite) scratch() string {
	s.next++
	return mustMkdir(filepath.Join(s.dir, fmt.Sprintf("case-%d", s.next)))
}

func mustMkdir(path string) string {
	if err := os.MkdirAll(path, 0o755); err != nil {
		panic(err)
	}
	return path
}

func mustWrite(path string) string {
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		panic(err)
	}
	return path
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// refused wants an error with the code UNKNOWN, as for all that the handlers refuse, and a text in it.
func refused(err error, text string) error {
	return failed(err, codes.Unknown, text)
}

// refusedBySystem wants what came before the system's text, and either text for the number.
func refusedBySystem(err error, before string, number systemError) error {
	if refused(err, before+number.number.Error()) == nil {
		return nil
	}
	return refused(err, before+number.windows)
}

func failed(err error, code codes.Code, text string) error {
	switch {
	case err == nil:
		return errors.New("no error, although one is due")
	case status.Code(err) != code:
		return fmt.Errorf("code %v, want %v: %v", status.Code(err), code, err)
	case !strings.Contains(status.Convert(err).Message(), text):
		return fmt.Errorf("the text %q does not contain %q", status.Convert(err).Message(), text)
	}
	return nil
}

func (s *suite) context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), callTimeout)
}

// got makes an RPC of the version under test.
func (s *suite) got(rpc string, in fields) (answer, error) {
	ctx, cancel := s.context()
	defer cancel()
	return s.call(ctx, rpc, in, nil)
}

// told makes an RPC whose answer says nothing.
func (s *suite) told(rpc string, in fields) error {
	_, err := s.got(rpc, in)
	return err
}

// refusedWithout wants an error with a text in it, and without the secret that was sent.
func refusedWithout(err error, text, secret string) error {
	if err != nil && strings.Contains(err.Error(), secret) {
		return errors.New("the secret stands in the error's text")
	}
	return refused(err, text)
}

// withLinks is a check that needs links or mounted folders.
func (s *suite) withLinks(name string, test func() error) {
	if *noLinks {
		s.Skip(name, "no symbolic links and mounted folders here")
		return
	}
	s.Check(name, test())
}

// otherServices checks that the pipe of this version answers nothing of the group's other versions.
// harmless: an RPC that all have.
func (s *suite) otherServices(versions []version, harmless string, in fields) {
	s.Row = "any call"
	for _, other := range versions {
		if other.name == s.caller.version.name {
			continue
		}
		if other.connectAt == nil {
			s.Skip("service of "+other.name+" on this pipe", "this release of the client knows the fixed pipe names only")
			continue
		}
		client, err := other.dialPipeOf(s.caller.version)
		if err == nil {
			ctx, cancel := s.context()
			_, err = caller{other, client}.call(ctx, harmless, in, nil)
			cancel()
			client.Close()
		}
		service := strings.ToUpper(other.group[:1]) + other.group[1:]
		s.Check("service of "+other.name+" on this pipe",
			failed(err, codes.Unimplemented, "unknown service "+other.name+"."+service))
	}
}

// noMessage is a codec that sends what is no message of protobuf, in the place of a request.
type noMessage struct{}

func (noMessage) Marshal(interface{}) ([]byte, error) { return []byte{0x0A, 0x7F, 'x'}, nil }
func (noMessage) Unmarshal([]byte, interface{}) error { return nil }
func (noMessage) Name() string                        { return "proto" }

// noMessages checks that every RPC refuses what cannot be decoded.
func (s *suite) noMessages() {
	for _, rpc := range s.rpcs() {
		s.Row = rpc
		ctx, cancel := s.context()
		_, err := s.call(ctx, rpc, nil, nil, grpc.ForceCodec(noMessage{}))
		cancel()
		s.Check("what is no message", failed(err, codes.Internal, "grpc: error unmarshalling request"))
	}
}

// better is a check that the original is known to fail; why says what it does.
func (s *suite) better(name, why string, test func() error) {
	if *original {
		s.Skip(name, "the original "+why)
		return
	}
	s.Check(name, test())
}
