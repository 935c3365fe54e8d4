// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"csi-proxy/integrationtests/testbed"
)

// volume is what the kubelet and the controller tell a driver about a volume. Paths are raw, as the kubelet
// has them.
type volume struct {
	disk    testbed.Record // how the disk was plugged in: it has what the cloud tells the driver about it
	lun     lun            // of a disk behind iSCSI: where it is
	share   share          // of a share: where it is
	staging string
	target  string
	bytes   int64 // the wanted size
}

// driver is one CSI driver on the node: what its node service does, call by call.
type driver interface {
	stage(v volume) error
	publish(v volume) error
	unpublish(v volume) error
	unstage(v volume) error
	close()
}

// diskDriver is one whose volumes are disks.
type diskDriver interface {
	driver
	// stats returns the size of the file system.
	stats(v volume) (int64, error)
	expand(v volume) error
	// leavesOffline tells whether the disk is offline after unstage.
	leavesOffline() bool
}

// normalized is how the drivers turn a path of the kubelet into one of Windows.
func normalized(path string) string {
	path = strings.ReplaceAll(path, "/", `\`)
	if strings.HasPrefix(path, `\`) {
		path = "c:" + path
	}
	return path
}

type closer interface{ Close() error }

// clients are a driver's connections.
type clients []closer

func (c clients) close() {
	for _, client := range c {
		client.Close()
	}
}

// open adds a connection to a driver's clients.
func open[T closer](to *clients, connect func() (T, error), client *T) error {
	made, err := connect()
	if err == nil {
		*client = made
		*to = append(*to, made)
	}
	return err
}

// first returns the first error of steps that were all made.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// then makes further steps, until one fails.
func then(err error, steps ...func() error) error {
	for _, step := range steps {
		if err != nil {
			break
		}
		err = step()
	}
	return err
}

// parent is the directory that a path is in.
func parent(path string) string { return path[:strings.LastIndex(path, `\`)] }
