// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// trident is NetApp's driver, which has volumes on shares only. It asks for a volume's usage by way of the
// volume group, which cannot tell that of a share, and goes on when that fails.
type trident struct{ azureFile }

func openTrident(n *node) (driver, error) {
	d, err := newAzureFile(n)
	return trident{d}, err
}

func (d trident) stage(v volume) error {
	path := normalized(v.staging)
	mounted, err := d.isMounted(path)
	if err != nil || mounted {
		return err
	}
	return then(d.clear(path), func() error { return d.mapShare(v, path) }, func() error { return d.usage(path) })
}

func (d trident) publish(v volume) error {
	return then(d.azureFile.publish(v), func() error { return d.usage(normalized(v.target)) })
}

// usage is only logged when it fails; an answer about another volume would be worse.
func (d trident) usage(path string) error {
	id, err := d.volumeAt(path)
	if err == nil {
		return fmt.Errorf("the share at %s is said to be the volume %s", path, id)
	}
	if code := status.Code(err); code != codes.Unknown {
		return fmt.Errorf("usage of a share: %w", err)
	}
	return nil
}

// unstage ends the mapping of the share, whoever else uses it.
func (d trident) unstage(v volume) error {
	if err := d.rmdir(normalized(v.staging), true); err != nil {
		return err
	}
	return d.unmapShare(v.share.root())
}

func (d trident) afterLast(s *shareScene) func() error { return s.isNotMapped }

func (d trident) severalOnShare() bool { return false }
