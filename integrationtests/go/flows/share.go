// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"csi-proxy/integrationtests/testbed"
)

const (
	shareUser    = `AZURE\account`
	shareKey     = "key-1 of the account=="
	shareNewUser = `AZURE\account2`
	shareNewKey  = "key-2 of the account=="
	// hiddenShares has the files of shares that nobody can reach.
	hiddenShares = `C:\csi-testbed\shares\`
)

// share is a volume on a server, as the controller and the secret tell the driver.
type share struct {
	id       string
	remote   string // as the driver is told: with slashes
	user     string
	password string
}

// root is \\host\share of a remote path in any spelling.
func (s share) root() string {
	parts := strings.FieldsFunc(s.remote, func(c rune) bool { return c == '/' || c == '\\' })
	return strings.ToLower(`\\` + parts[0] + `\` + parts[1])
}

// shareScene is a server with a share, and two volumes on it for two pods of one node.
type shareScene struct {
	bed    *testbed.Bed
	volume volume
	second volume // a directory below
	folder string // where the kubelet has all of the flow
}

func newShareScene(bed *testbed.Bed, f flow) (*shareScene, error) {
	if !bed.HasNetwork() {
		return nil, testbed.ErrNoNetwork
	}
	s := &shareScene{bed: bed}
	s.folder = kubelet + `plugins\kubernetes.io\csi\` + f.folder()
	host := strings.ToLower(f.folder()) + ".file.test"
	place := func(name, below string) volume {
		return volume{
			share:   share{id: f.folder() + "-" + name, remote: "//" + host + "/Data" + below},
			staging: s.folder + `\` + name + `\globalmount`,
			target: strings.ReplaceAll(kubelet+`pods\`+name+`-7c2f\volumes\kubernetes.io~csi\`+f.folder()+`\mount`,
				`\`, `/`),
		}
	}
	s.volume, s.second = place("one", ""), place("two", "/Sub")
	return s, nil
}

// login gives both volumes the credentials of the secret.
func (s *shareScene) login(user, key string) {
	for _, v := range []*volume{&s.volume, &s.second} {
		v.share.user, v.share.password = user, key
	}
}

// clear leaves nothing of what drivers and csi-proxy have made; a link is an empty folder to this program.
func (s *shareScene) clear() error {
	err := s.bed.Reset()
	for _, folder := range []string{`C:` + s.folder, filepath.Dir(normalized(s.volume.target)),
		filepath.Dir(normalized(s.second.target)), referenceFolder} {
		err = then(err, func() error { return testbed.RemoveTree(folder) })
	}
	return err
}

// fresh is a server whose share nobody has mapped, and the kubelet about to begin.
func (s *shareScene) fresh() error {
	s.login(shareUser, shareKey)
	err := s.clear()
	if err == nil {
		_, err = s.bed.Do("share add root=%s user=%s password=%s", testbed.Escape(s.volume.share.root()),
			testbed.Escape(shareUser), testbed.Escape(shareKey))
	}
	below := strings.TrimPrefix(s.second.share.remote, s.volume.share.remote)
	return then(err, s.makeStaging, func() error { return os.MkdirAll(s.hidden()+below, 0o755) })
}

// rotate exchanges the credentials on the server and in the secret.
func (s *shareScene) rotate() error {
	s.login(shareNewUser, shareNewKey)
	_, err := s.bed.Do("share set root=%s user=%s password=%s", testbed.Escape(s.volume.share.root()),
		testbed.Escape(shareNewUser), testbed.Escape(shareNewKey))
	return err
}

// kubelet's own directories, as it makes them before it calls a driver.
func (s *shareScene) makeStaging() error {
	return first(os.MkdirAll(`C:`+s.volume.staging, 0o755), os.MkdirAll(`C:`+s.second.staging, 0o755))
}
func (s *shareScene) makeTarget() error { return os.MkdirAll(normalized(s.volume.target), 0o755) }

// mapping tells whether the node has the share mapped, and as whom.
func (s *shareScene) mapping() (user string, mapped bool, err error) {
	shares, err := s.bed.Records("share list")
	for _, share := range shares {
		if strings.EqualFold(share["root"], s.volume.share.root()) {
			return share["user"], share["mapped"] == "1", err
		}
	}
	return "", false, first(err, errors.New("the testbed has lost the share"))
}

func (s *shareScene) isMapped() error {
	user, mapped, err := s.mapping()
	switch {
	case err != nil:
		return err
	case !mapped:
		return errors.New("the share is not mapped")
	case user != s.volume.share.user:
		return fmt.Errorf("the share is mapped as %q, not as %q", user, s.volume.share.user)
	}
	return nil
}

func (s *shareScene) isNotMapped() error {
	_, mapped, err := s.mapping()
	if err == nil && mapped {
		err = errors.New("the share is still mapped")
	}
	return err
}

// leadsTo checks that a path is a link, and what a driver reads in it.
func leadsTo(path, want string) error {
	target, err := readLink(path)
	if err == nil && target != want {
		err = fmt.Errorf("the link %s leads to %s, not to %s", path, target, want)
	}
	return err
}

// stagedTo is how things must be after NodeStage of a volume.
func (s *shareScene) stagedTo(v *volume) func() error {
	return func() error {
		remote := strings.ReplaceAll(v.share.remote, "/", `\`) + `\`
		return then(s.isMapped(), func() error { return leadsTo(`C:`+v.staging, remote) })
	}
}

// published is how things must be after NodePublish.
func (s *shareScene) published() error {
	return then(s.stagedTo(&s.volume)(), func() error {
		target, err := readLink(normalized(s.volume.target))
		if err == nil && !strings.EqualFold(target, `C:`+s.volume.staging) {
			err = fmt.Errorf("the pod's link leads to %s", target)
		}
		return err
	})
}

// Data of a user are a file in the share. It is looked for where the testbed keeps the files, whether programs
// reach them or not.

func (s *shareScene) dataFile() string {
	below := filepath.Join("user", "data")
	if reachable := filepath.Join(s.volume.share.root()+`\`, below); exists(filepath.Dir(filepath.Dir(reachable))) {
		return reachable
	}
	return filepath.Join(s.hidden(), below)
}

// hidden is where the files of the share are while nobody has it mapped.
func (s *shareScene) hidden() string {
	return hiddenShares + strings.TrimPrefix(s.volume.share.root(), `\\`)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (s *shareScene) holdsData() bool { return true }

func (s *shareScene) mark() error {
	file := s.dataFile()
	return first(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(s.volume.share.id), 0o644))
}

func (s *shareScene) marked() error {
	found, err := os.ReadFile(s.dataFile())
	if err == nil && string(found) != s.volume.share.id {
		err = errors.New("the data in the share are damaged")
	}
	return err
}

// byHand is what a person does for a driver that cannot go on with a volume: the link is removed, and the
// mapping too when it was the last one.
func (s *shareScene) byHand(v *volume, last bool) func() error {
	return func() error {
		err := os.Remove(`C:` + v.staging)
		if _, mapped, mappingErr := s.mapping(); mappingErr == nil && mapped && last {
			_, mappingErr = s.bed.Do("share unmap root=%s", testbed.Escape(v.share.root()))
			err = first(err, mappingErr)
		}
		return err
	}
}
