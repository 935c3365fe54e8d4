// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"csi-proxy/integrationtests/testbed"
)

// The shares of the tests. Passwords stand in no error.
const (
	smbShare     = `\\files.test\data`
	smbPublic    = `\\files.test\public` // for everybody
	smbUser      = `TEST\alice`
	smbPassword  = "pass:w\\ord 1!"
	smbRotated   = "pass:w\\ord 2!"
	smbWrong     = "not the password"
	newFailed    = "NewSmbGlobalMapping failed. err: "
	linkFailed   = "creating link "
	noRemotePath = "remote path is empty"
)

// smbSuite has shares, and looks at the mappings of this node.
type smbSuite struct{ *suite }

func (s *suite) smb() {
	s.Row = "connect"
	m := &smbSuite{s}
	err := m.prepare()
	s.Check("the testbed has shares", err)
	if err != nil {
		return
	}
	m.newMapping()
	m.badRemotePaths("NewSmbGlobalMapping", m.mapPath)
	m.credentials()
	m.rotation()
	m.trouble()
	m.localPath()
	m.removeMapping()
	m.badRemotePaths("RemoveSmbGlobalMapping", m.unmap)
	s.otherServices(smbVersions, "RemoveSmbGlobalMapping", fields{"RemotePath": smbShare})
	s.Row = "any call"
	s.Check("the testbed puts its shares away", s.bed.Reset())
}

// prepare has no mappings, and shares anew.
func (m *smbSuite) prepare() error {
	_, err := m.bed.Do("share add root=%s user=%s password=%s", testbed.Escape(smbShare), testbed.Escape(smbUser),
		testbed.Escape(smbPassword))
	if err == nil {
		_, err = m.bed.Do("share add root=%s", testbed.Escape(smbPublic))
	}
	return err
}

// anew is prepare after what the cases before have left.
func (m *smbSuite) anew() error { return first(m.bed.Reset(), m.prepare()) }

func (m *smbSuite) mapWith(path, user, password string) error {
	return m.told("NewSmbGlobalMapping", fields{"RemotePath": path, "Username": user, "Password": password})
}

func (m *smbSuite) mapPath(path string) error { return m.mapWith(path, smbUser, smbPassword) }

func (m *smbSuite) mapTo(local string) error {
	return m.told("NewSmbGlobalMapping", fields{
		"RemotePath": smbShare, "LocalPath": local, "Username": smbUser, "Password": smbPassword})
}

func (m *smbSuite) unmap(path string) error {
	return m.told("RemoveSmbGlobalMapping", fields{"RemotePath": path})
}

// shareIs changes a share on its server.
func (m *smbSuite) shareIs(words string) error {
	_, err := m.bed.Do("share set root=%s %s", testbed.Escape(smbShare), words)
	return err
}

func (m *smbSuite) mapping(root string) (testbed.Record, error) {
	shares, err := m.bed.Records("share list")
	for _, share := range shares {
		if strings.EqualFold(share["root"], root) {
			return share, err
		}
	}
	return nil, first(err, fmt.Errorf("the testbed has no share %s", root))
}

// isMapped checks that this node has a mapping as a user.
func (m *smbSuite) isMapped(user string) error {
	share, err := m.mapping(smbShare)
	return first(err, wantText(share["mapped"], "1"), wantText(share["user"], user))
}

func (m *smbSuite) isNotMapped(root string) error {
	share, err := m.mapping(root)
	return first(err, wantText(share["mapped"], "0"))
}

func (m *smbSuite) newMapping() {
	m.Row = "NewSmbGlobalMapping"
	m.Check("a share", first(m.mapPath(smbShare), m.isMapped(smbUser)))
	m.Check("again", first(m.mapPath(smbShare), m.isMapped(smbUser)))
	for _, spelling := range []struct{ name, path string }{
		{"slashes", `//files.test/data`},
		{"another case", `\\FILES.test\Data`},
		{"a backslash behind", smbShare + `\`},
		{"a slash behind", `//files.test/data/`},
		{"a directory below", smbShare + `\Dir\below`},
		{"a directory below, with slashes", `//files.test/data/dir/below/`},
	} {
		m.Check("mapped: "+spelling.name, first(m.mapPath(spelling.path), m.isMapped(smbUser)))
		m.Check("not mapped: "+spelling.name, first(m.anew(), m.mapPath(spelling.path), m.isMapped(smbUser)))
	}
	m.Check("for everybody, without a user", func() error {
		err := m.mapWith(smbPublic, "", "")
		share, listed := m.mapping(smbPublic)
		return first(err, listed, wantText(share["mapped"], "1"))
	}())
}

// badRemotePaths checks what a call refuses as a share.
func (m *smbSuite) badRemotePaths(rpc string, call func(path string) error) {
	m.Row = rpc
	m.Check("no remote path", refused(call(""), noRemotePath))
	for _, bad := range []string{"files.test", `\\files.test`, `\\files.test\`, "//files.test//", `\\`, "/"} {
		said := "remote path (" + strings.ReplaceAll(bad, "/", `\`) + ") is invalid"
		m.Check(fmt.Sprintf("no share in %q", bad), refused(call(bad), said))
	}
	for _, bad := range []struct{ name, path string }{
		{"parent", smbShare + `\..\other`},
		{"parent as the share", `\\files.test\..`},
		{"device", `\\.\PhysicalDrive0`},
		{"verbatim path", `\\?\C:\windows`},
		{"verbatim share", `\\?\UNC\files.test\data`},
		{"pipe of a server", `\\files.test\pipe\x|y`},
		{"stream", smbShare + `\x:y`},
		{"quote", `\\files.test\da'ta" OR`},
		{"wildcard", smbShare + `*`},
		{"line feed", smbShare + "\n"},
	} {
		m.Check("bad path: "+bad.name, refused(call(bad.path), ""))
	}
	m.Check("NUL", refused(call(smbShare+"\x00"), "NUL"))
	m.Check("8 KiB", refused(call(smbShare+`\`+strings.Repeat("x", 8<<10)), "longer than"))
}

func (m *smbSuite) credentials() {
	m.Row = "NewSmbGlobalMapping"
	m.Check("wrong password", first(m.anew(), refusedWithout(m.mapWith(smbShare, smbUser, smbWrong), newFailed, smbWrong),
		m.isNotMapped(smbShare)))
	m.Check("unknown user", refusedWithout(m.mapWith(smbShare, `TEST\mallory`, smbPassword), newFailed, smbPassword))
	m.Check("no user, where one is needed", refused(m.mapWith(smbShare, "", ""), newFailed))
	m.Check("unknown share", refused(m.mapPath(`\\files.test\nothing`), newFailed))
	m.Check("unknown server", refused(m.mapPath(`\\nobody.test\data`), newFailed))
	m.Check("none of these has mapped anything", m.isNotMapped(smbShare))
	m.Check("user name of 2 KiB", refused(m.mapWith(smbShare, strings.Repeat("u", 2<<10), smbPassword), "longer than"))
	long := strings.Repeat("secret", 500)
	m.Check("password of 3000 bytes", refusedWithout(m.mapWith(smbShare, smbUser, long), "longer than", "secretsecret"))
	m.Check("NUL in the password", refusedWithout(m.mapWith(smbShare, smbUser, "1s3cr3t\x00"), "NUL", "1s3cr3t"))
	m.Check("encryption that the server does not have", first(m.shareIs("privacy=unsupported"),
		refused(m.mapPath(smbShare), newFailed), m.shareIs("privacy=supported"), m.isNotMapped(smbShare)))
}

// rotation: the password was changed on the server, and the driver comes with the new one.
func (m *smbSuite) rotation() {
	m.Row = "NewSmbGlobalMapping"
	if *noLinks {
		m.Check("a mapping, before other credentials", first(m.anew(), m.mapPath(smbShare)))
		m.Check("credentials that cannot be tried keep it", first(refusedWithout(m.mapWith(smbShare, smbUser, smbWrong),
			newFailed, smbWrong), m.isMapped(smbUser)))
		m.Skip("a rotated password", "Wine has no LogonUserW, by which credentials are tried before a mapping ends")
		return
	}
	rotated := "password=" + testbed.Escape(smbRotated)
	m.Check("a rotated password", first(m.anew(), m.mapPath(smbShare), m.shareIs(rotated),
		m.mapWith(smbShare, smbUser, smbRotated), m.isMapped(smbUser)))
	m.Check("wrong password over a mapping",
		refusedWithout(m.mapWith(smbShare, smbUser, smbWrong), newFailed, smbWrong))
	m.Check("which keeps the mapping", m.isMapped(smbUser))
	m.Check("another user", first(m.shareIs("user=TEST%5Cbob"), m.mapWith(smbShare, `TEST\bob`, smbRotated),
		m.isMapped(`TEST\bob`)))
}

// trouble: the server, or the way to it, fails for a while.
func (m *smbSuite) trouble() {
	m.Row = "NewSmbGlobalMapping"
	m.Check("no network", first(m.anew(), m.shareIs("state=down"), refused(m.mapPath(smbShare), newFailed),
		m.isNotMapped(smbShare)))
	m.Check("it is back", first(m.shareIs("state=up"), m.mapPath(smbShare), m.isMapped(smbUser)))
	m.Check("no network for a moment keeps the mapping", first(m.shareIs("state=down"), func() error {
		_ = m.mapPath(smbShare) // whether it fails or waits for better times
		return m.isMapped(smbUser)
	}(), m.shareIs("state=up"), m.mapPath(smbShare), m.isMapped(smbUser)))
	m.Check("a mapping that is disconnected is renewed", first(m.shareIs("state=disconnected"), m.mapPath(smbShare),
		m.isMapped(smbUser)))
	m.Check("a share that is gone", first(m.anew(), m.shareIs("state=gone"), refused(m.mapPath(smbShare), newFailed)))
}

func (m *smbSuite) localPath() {
	m.Row = "NewSmbGlobalMapping"
	dir := m.scratch()
	m.badGivenPaths(" as the local path", func(path string) error { return m.mapTo(path) })
	m.Check("a bad local path maps nothing", first(m.anew(), refused(m.mapTo(`C:\windows\temp\x`), "working directories"),
		m.isNotMapped(smbShare)))
	missing := filepath.Join(dir, "missing", "link")
	m.Check("the parent is missing", first(refused(m.mapTo(missing), linkFailed), m.isNotMapped(smbShare)))
	full := mustMkdir(filepath.Join(dir, "full"))
	mustWrite(filepath.Join(full, "file"))
	m.Check("something else is there", first(refused(m.mapTo(full), linkFailed), m.isNotMapped(smbShare),
		wantOnDisk(filepath.Join(full, "file"), true)))
	link := filepath.Join(dir, "link")
	if *noLinks {
		m.Check("a link that was not made maps nothing", first(refused(m.mapTo(link), linkFailed), m.isNotMapped(smbShare),
			wantOnDisk(link, false)))
	}
	m.withLinks("link", func() error { return first(m.mapTo(link), m.isMapped(smbUser), wantOnDisk(link, true)) })
	m.withLinks("the same link again", func() error { return first(m.mapTo(link), m.isMapped(smbUser)) })
	m.withLinks("a link to another place", func() error {
		return refused(m.told("NewSmbGlobalMapping", fields{"RemotePath": smbShare + `\other`, "LocalPath": link,
			"Username": smbUser, "Password": smbPassword}), linkFailed)
	})
	m.withLinks("which keeps the mapping of the link", func() error { return m.isMapped(smbUser) })
}

func (m *smbSuite) removeMapping() {
	m.Row = "RemoveSmbGlobalMapping"
	m.Check("a share", first(m.anew(), m.mapPath(smbShare), m.unmap(smbShare), m.isNotMapped(smbShare)))
	m.Check("again", m.unmap(smbShare))
	m.Check("a share that nobody has", m.unmap(`\\nobody.test\data`))
	for _, spelling := range []string{`//FILES.TEST/data/`, smbShare + `\`, smbShare + `\dir\below`, `//files.test/Data`} {
		m.Check(fmt.Sprintf("as %q", spelling), first(m.mapPath(smbShare), m.unmap(spelling), m.isNotMapped(smbShare)))
	}
	m.Check("without network", first(m.mapPath(smbShare), m.shareIs("state=down"), m.unmap(smbShare),
		m.isNotMapped(smbShare), m.shareIs("state=up")))
	m.Check("the other share stays", first(m.mapPath(smbShare), m.mapWith(smbPublic, "", ""), m.unmap(smbPublic),
		m.isNotMapped(smbPublic), m.isMapped(smbUser)))
}
