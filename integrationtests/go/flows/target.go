// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"csi-proxy/integrationtests/testbed"
)

// The target of flows over iSCSI: a disk of the profile is its LUN. The address is one that RFC 5737 has set
// aside.
const (
	targetAddress = "192.0.2.40"
	targetPort    = 3260
	targetUser    = "node-1"
	targetSecret  = "longh0rn-s3cr3t"
)

// lun is a disk behind iSCSI, as the controller tells the driver where it is.
type lun struct {
	address      string
	port         uint32
	iqn          string
	user, secret string
}

func lunOf(f flow) lun {
	name := strings.ToLower(strings.ReplaceAll(f.folder(), ",", ""))
	return lun{address: targetAddress, port: targetPort, iqn: "iqn.2019-10.io.longhorn:" + name, user: targetUser,
		secret: targetSecret}
}

// offer makes the target with an empty disk. Whatever the initiator knew is gone.
func (s *scene) offer() error {
	if _, err := s.bed.Do("network reset"); err != nil {
		return err
	}
	if _, err := s.bed.Disk(s.disk); err == nil {
		if err := s.bed.RemoveDisk(s.disk); err != nil {
			return err
		}
	}
	if _, err := s.bed.NewFile(s.disk); err != nil {
		return err
	}
	var err error
	if s.volume.bytes, err = testbed.Bytes(s.volume.disk["size"]); err != nil {
		return err
	}
	return s.offerAgain()
}

// offerAgain makes the target with the disk as it is now.
func (s *scene) offerAgain() error {
	at := s.volume.lun
	_, err := s.bed.Do("target add iqn=%s portal=%s:%d chap-user=%s chap-secret=%s", at.iqn, at.address, at.port, at.user,
		at.secret)
	if err == nil {
		_, err = s.bed.Do("target lun iqn=%s number=%d size=%d file=%s %s", at.iqn, s.disk, s.volume.bytes,
			testbed.Escape(s.bed.File(s.disk)), s.words)
	}
	return err
}

// withdraw takes the target away, with its sessions.
func (s *scene) withdraw() error {
	_, err := s.bed.Do("target remove iqn=%s", s.volume.lun.iqn)
	return err
}

func (s *scene) sessions() ([]testbed.Record, error) { return s.bed.Records("session list") }

// renew gives a target that nobody is connected to the size which its disk has grown to.
func (s *scene) renew() error {
	if !s.flow.overISCSI {
		return nil
	}
	sessions, err := s.sessions()
	if err != nil || len(sessions) > 0 {
		return err
	}
	return then(s.withdraw(), s.offerAgain)
}

// loggedOut is how things must be when the driver itself has put all away.
func (s *scene) loggedOut() error {
	sessions, err := s.sessions()
	if err != nil {
		return err
	}
	portals, err := s.bed.Records("initiator list")
	for _, line := range portals {
		if portal := line["portal"]; portal != "" {
			err = first(err, fmt.Errorf("the portal %s is still registered", portal))
		}
	}
	if _, there := s.bed.Disk(s.disk); there == nil {
		err = first(err, errors.New("the disk is still there"))
	}
	if len(sessions) > 0 {
		err = first(err, fmt.Errorf("there is still a session with %s", sessions[0]["iqn"]))
	}
	return err
}

// readImage reads what mark has written from the file behind a disk that is not there. The driver of the
// testbed closes that a little after the disk has gone.
func (s *scene) readImage(into []byte) error {
	return eventually(func() error {
		file, err := os.Open(s.bed.File(s.disk))
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.ReadAt(into, s.marks)
		return err
	})
}
