// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
)

func (s *suite) filesystem() {
	s.pathExists()
	s.mkdir()
	s.rmdir()
	s.isLink()
	s.link()
	if s.has("RmdirContents") {
		s.rmdirContents()
	}
	s.calls()
}

// asked makes an RPC about a path that answers a boolean.
func (s *suite) asked(rpc, path, field string, want bool, optional fields) error {
	ctx, cancel := s.context()
	defer cancel()
	got, err := s.call(ctx, rpc, fields{"Path": path}, optional)
	if err == nil && got.flag(field) != want {
		err = fmt.Errorf("%s: got %v, want %v", path, !want, want)
	}
	return err
}

// mustTree makes directories two levels deep with files in them, one read-only.
func mustTree(path string) string {
	inner := mustMkdir(filepath.Join(path, "a", "b"))
	mustWrite(filepath.Join(inner, "file"))
	readOnly := mustWrite(filepath.Join(path, "read-only"))
	if err := os.Chmod(readOnly, 0o444); err != nil {
		panic(err)
	}
	return path
}

// onDisk says what the file system has, without asking the service.
func onDisk(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func wantOnDisk(path string, want bool) error {
	if onDisk(path) != want {
		return fmt.Errorf("%s: on disk %v, want %v", path, !want, want)
	}
	return nil
}

func wantEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s still has %d entries, %s among them", dir, len(entries), entries[0].Name())
	}
	return err
}

// badPaths checks that the RPC refuses every path that is not a clean one below the kubelet directory.
// how tells apart several uses in one RPC.
func (s *suite) badPaths(how string, call func(path string) error) {
	s.Check("refuses empty path"+how, refused(call(""), `not an absolute Windows path: `))
	s.badGivenPaths(how, call)
}

// badGivenPaths is badPaths where an empty path means that there is none.
func (s *suite) badGivenPaths(how string, call func(path string) error) {
	tree := `C:\var\lib\kubelet\plugins\`
	for _, bad := range []struct{ name, path, text string }{
		{"relative path", `pv1\foo`, `not an absolute Windows path: pv1\foo`},
		{"drive-relative path", `C:foo`, `path contains invalid characters: C:foo`},
		{"forward slashes", `C:/var/lib/kubelet`, `path contains invalid characters: `},
		{"parent components", tree + `x\..\..\..\..\windows`, `path contains invalid characters: `},
		{"stream name", tree + `x:stream`, `path contains invalid characters: `},
		{"wildcard", tree + `x*`, `path contains invalid characters: `},
		{"question mark", tree + `x?`, `path contains invalid characters: `},
		{"bar", tree + `x|y`, `path contains invalid characters: `},
		{"quote", tree + `x"y`, `path contains invalid characters: `},
		{"network path", `\\server\share\x`, `invalid character \ at beginning of path: `},
		{"device path", `\\?\C:\var\lib\kubelet\x`, `invalid character \ at beginning of path: `},
		{"outside the kubelet directory", `C:\windows\temp\interop`, `is not within the working directories: [C:\var\lib\kubelet]`},
		{"another drive", `D:\var\lib\kubelet\x`, `is not within the working directories`},
	} {
		s.Check("refuses "+bad.name+how, refused(call(bad.path), bad.text))
	}
	s.better("refuses a directory whose name only starts alike"+how, "accepts it", func() error {
		return refused(call(`C:\var\lib\kubelet-evil\x`), `is not within the working directories`)
	})
}

func (s *suite) pathExists() {
	s.Row = "PathExists"
	asked := func(path string, want bool) error {
		return s.asked("PathExists", path, "Exists", want, nil)
	}
	dir := s.scratch()
	file := mustWrite(filepath.Join(dir, "file"))
	s.Check("directory exists", asked(dir, true))
	s.Check("file exists", asked(file, true))
	s.Check("upper case finds the same", asked(strings.ToUpper(dir), true))
	s.Check("missing entry", asked(filepath.Join(dir, "missing"), false))
	s.Check("missing parent", asked(filepath.Join(dir, "missing", "below"), false))
	s.Check("the working directory itself", asked(`C:\var\lib\kubelet`, true))
	name := filepath.Join(dir, "grün 目录 🗂")
	s.Check("missing name outside ASCII", asked(name, false))
	mustMkdir(name)
	s.Check("name outside ASCII", asked(name, true))
	for _, number := range []int{0, 1, 77} {
		s.Check(fmt.Sprintf("path context %d, where there is one, changes nothing", number),
			s.asked("PathExists", dir, "Exists", true, fields{"Context": number}))
	}
	s.badPaths("", func(path string) error { return asked(path, false) })
}

func (s *suite) mkdir() {
	s.Row = "Mkdir"
	mkdir := func(path string) error { return s.told("Mkdir", fields{"Path": path}) }
	dir := s.scratch()
	deep := filepath.Join(dir, "x", "y", "z")
	s.Check("makes all missing parents", first(mkdir(deep), wantOnDisk(deep, true)))
	s.Check("again is no error", mkdir(deep))
	name := filepath.Join(dir, "grün 目录 🗂")
	s.Check("name outside ASCII", first(mkdir(name), wantOnDisk(name, true)))
	file := mustWrite(filepath.Join(dir, "file"))
	s.Check("a file in place of the directory", refused(mkdir(file), "mkdir "+file))
	s.Check("a file in place of a parent", refused(mkdir(filepath.Join(file, "below")), "mkdir "))
	s.badPaths("", mkdir)
	s.Check("nothing was made outside", wantOnDisk(`C:\windows\temp\interop`, false))
}

func (s *suite) rmdir() {
	s.Row = "Rmdir"
	rmdir := func(path string, force bool) error {
		return s.told("Rmdir", fields{"Path": path, "Force": force})
	}
	for _, force := range []bool{false, true} {
		dir := s.scratch()
		how := map[bool]string{false: "", true: ", forced"}[force]
		empty := mustMkdir(filepath.Join(dir, "empty"))
		s.Check("empty directory"+how, first(rmdir(empty, force), wantOnDisk(empty, false)))
		file := mustWrite(filepath.Join(dir, "file"))
		s.Check("file"+how, first(rmdir(file, force), wantOnDisk(file, false)))
		s.Check("its parent stays"+how, wantOnDisk(dir, true))
	}
	dir := s.scratch()
	missing := filepath.Join(dir, "missing")
	s.Check("missing", refusedBySystem(rmdir(missing, false), "remove "+missing+": ", errorFileNotFound))
	s.Check("missing, forced", rmdir(missing, true))
	s.Check("missing parent, forced", rmdir(filepath.Join(missing, "below"), true))
	tree := mustTree(filepath.Join(dir, "tree"))
	s.Check("directory with contents", first(refusedBySystem(rmdir(tree, false), "remove "+tree+": ", errorDirNotEmpty),
		wantOnDisk(filepath.Join(tree, "a", "b", "file"), true)))
	s.better("directory with contents, forced", "fails under Wine 8, which lacks a call it uses", func() error {
		return first(rmdir(tree, true), wantOnDisk(tree, false), wantOnDisk(dir, true))
	})
	s.badPaths("", func(path string) error { return rmdir(path, false) })
	s.badPaths(", forced", func(path string) error { return rmdir(path, true) })
}

func (s *suite) rmdirContents() {
	s.Row = "RmdirContents"
	clear := func(path string) error { return s.told("RmdirContents", fields{"Path": path}) }
	dir := s.scratch()
	s.Check("empty directory stays", first(clear(dir), wantOnDisk(dir, true)))
	mustWrite(filepath.Join(dir, "file"))
	mustMkdir(filepath.Join(dir, "empty"))
	s.Check("files and empty directories", first(clear(dir), wantOnDisk(dir, true), wantEmpty(dir)))
	mustTree(filepath.Join(dir, "tree"))
	s.better("whole trees", "fails under Wine 8, which lacks a call it uses", func() error {
		return first(clear(dir), wantOnDisk(dir, true), wantEmpty(dir))
	})
	s.Check("missing", refused(clear(filepath.Join(dir, "missing")), "open "))
	file := mustWrite(filepath.Join(s.scratch(), "file"))
	s.Check("file", first(refused(clear(file), ""), wantOnDisk(file, true)))
	s.badPaths("", clear)
}

func (s *suite) isLinkAnswer(path string, want bool) error {
	return s.asked("IsSymlink", path, "IsSymlink", want, nil)
}

func (s *suite) isLink() {
	s.Row = s.named("IsSymlink")
	dir := s.scratch()
	file := mustWrite(filepath.Join(dir, "file"))
	s.Check("directory is no link", s.isLinkAnswer(dir, false))
	s.Check("file is no link", s.isLinkAnswer(file, false))
	s.Check("path with forward slashes is answered", s.isLinkAnswer(filepath.ToSlash(dir), false))
	s.better("refuses paths outside the kubelet directory", "answers for any path", func() error {
		return refused(s.isLinkAnswer(`C:\windows`, false), "is not within the working directories")
	})
	s.Check("missing", refusedBySystem(s.isLinkAnswer(filepath.Join(dir, "missing"), false), "", errorFileNotFound))
	s.Check("empty path", refused(s.isLinkAnswer("", false), ""))
}

// wantBehindLink wants a file at a path through a link, if this program sees links.
func wantBehindLink(path string) error {
	if *emulated {
		return nil
	}
	return wantOnDisk(path, true)
}

func (s *suite) link() {
	s.Row = s.named("CreateSymlink")
	link := func(source, target string) error {
		return s.told("CreateSymlink", fields{"SourcePath": source, "TargetPath": target})
	}
	dir := s.scratch()
	source := mustTree(filepath.Join(dir, "source"))
	target := filepath.Join(dir, "target")
	if *noLinks {
		s.better("a link that was not made is no success", "trusts a call that lies under Wine", func() error {
			return first(refused(link(source, target), "symlink "+source+" "+target), wantOnDisk(target, false))
		})
	}
	s.withLinks("link to a directory", func() error {
		return first(link(source, target), s.isLinkAnswer(target, true), wantBehindLink(filepath.Join(target, "read-only")))
	})
	s.withLinks("the same link again", func() error {
		if *original {
			return refusedBySystem(link(source, target), "", errorAlreadyExists)
		}
		return link(source, target)
	})
	s.withLinks("another link in its place", func() error {
		return refusedBySystem(link(dir, target), "", errorAlreadyExists)
	})
	s.withLinks("removing the link leaves what it points to", func() error {
		return first(s.told("Rmdir", fields{"Path": target}), wantOnDisk(target, false), wantOnDisk(source, true))
	})
	s.withLinks("link to nothing exists and is not a link to something", func() error {
		dangling := filepath.Join(dir, "dangling")
		return first(link(filepath.Join(dir, "missing"), dangling), s.isLinkAnswer(dangling, false),
			s.asked("PathExists", dangling, "Exists", true, nil))
	})
	s.withLinks("forced removal of a tree does not follow links", func() error {
		tree := mustMkdir(filepath.Join(dir, "tree"))
		return first(link(source, filepath.Join(tree, "link")), s.told("Rmdir", fields{"Path": tree, "Force": true}),
			wantOnDisk(tree, false), wantOnDisk(filepath.Join(source, "read-only"), true))
	})
	good := filepath.Join(dir, "other")
	s.badPaths(" as the target", func(path string) error { return link(source, path) })
	s.badPaths(" as the source", func(path string) error { return link(path, good) })
	s.Check("the target is validated first", refused(link(`source`, `target`), "not an absolute Windows path: target"))
	s.Check("nothing was made", wantOnDisk(good, false))
}

// calls checks what holds for every RPC: deadlines, cancelling, sizes, compression, many callers.
func (s *suite) calls() {
	s.Row = "any call"
	dir := s.scratch()
	exists := func(ctx context.Context, opts ...grpc.CallOption) error {
		_, err := s.call(ctx, "PathExists", fields{"Path": dir}, nil, opts...)
		return err
	}

	past, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	s.Check("deadline in the past", failed(exists(past), codes.DeadlineExceeded, ""))
	cancel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	s.Check("cancelled call", failed(exists(cancelled), codes.Canceled, ""))

	ctx, cancel := s.context()
	defer cancel()
	s.Check("compressed request", failed(exists(ctx, grpc.UseCompressor("gzip")), codes.Unimplemented, "gzip"))
	long := `C:\var\lib\kubelet\` + strings.Repeat("x", 100*1024)
	s.Check("path of 100 KiB", refused(s.asked("PathExists", long, "Exists", false, nil), ""))
	huge := strings.Repeat("x", 4<<20)
	s.Check("message above 4 MiB", failed(s.asked("PathExists", huge, "Exists", false, nil), codes.ResourceExhausted, ""))
	s.Check("the connection survives all that", s.asked("PathExists", dir, "Exists", true, nil))
	s.otherServices(filesystemVersions, "PathExists", fields{"Path": dir})
	s.Check("16 callers on one connection", s.manyCallers(dir, func() (caller, error) { return s.caller, nil }))
	s.Check("16 callers on a connection each", s.manyCallers(dir, func() (caller, error) {
		client, err := s.caller.version.dial()
		return caller{s.caller.version, client}, err
	}))
}

// manyCallers has each caller make, find and remove directories of its own.
func (s *suite) manyCallers(dir string, connect func() (caller, error)) error {
	const callers, rounds = 16, 10
	errs := make([]error, callers)
	var wait sync.WaitGroup
	for i := 0; i < callers; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			c, err := connect()
			if err == nil && c.client != s.caller.client {
				defer c.client.Close()
			}
			own := &suite{caller: c}
			path := filepath.Join(dir, fmt.Sprintf("caller-%d", i))
			for round := 0; round < rounds && err == nil; round++ {
				err = first(own.told("Mkdir", fields{"Path": path}), own.asked("PathExists", path, "Exists", true, nil),
					own.told("Rmdir", fields{"Path": path}), own.asked("PathExists", path, "Exists", false, nil))
			}
			errs[i] = err
		}(i)
	}
	wait.Wait()
	return first(errs...)
}
