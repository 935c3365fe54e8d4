// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// daemon is csi-proxy-native in a directory of its own.
type daemon struct {
	directory, prefix string
	command           *exec.Cmd
	ended             chan error
}

func startDaemon(program, profile string) (*daemon, error) {
	directory, err := os.MkdirTemp("", "csi-proxy-introspection-")
	if err != nil {
		return nil, err
	}
	d := &daemon{directory: directory, prefix: filepath.Join(directory, "csi-proxy-"), ended: make(chan error, 1)}
	// A grace period longer than the test: a stop that waited for a Watch would be noticed.
	d.command = exec.Command(program, "-pipe-prefix="+d.prefix, "-stop-grace-period=10m", "-logtostderr")
	if profile != "" {
		d.command.Env = append(os.Environ(), "CSI_PROXY_NATIVE_PROFILE="+profile)
	}
	output, err := d.command.StderrPipe()
	if err == nil {
		err = d.command.Start()
	}
	if err != nil {
		return nil, err
	}
	serves := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "API versions on ") {
				serves <- true
			}
		}
		d.ended <- d.command.Wait()
	}()
	select {
	case <-serves:
		return d, nil
	case err = <-d.ended:
		return nil, fmt.Errorf("%s ended: %v", program, err)
	case <-time.After(limit):
		d.kill()
		return nil, errors.New("the daemon does not serve")
	}
}

// control sends one line to the control socket of the node in memory.
func (d *daemon) control(line string) error {
	conn, err := net.Dial("unix", d.prefix+"control")
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err = fmt.Fprintln(conn, line); err != nil {
		return err
	}
	answers := bufio.NewScanner(conn)
	for answers.Scan() {
		if strings.HasPrefix(answers.Text(), ". ") {
			if answers.Text() == ". ok" {
				return nil
			}
			return errors.New(answers.Text())
		}
	}
	return errors.New("no answer of the control socket")
}

func (d *daemon) stop() error {
	return d.command.Process.Signal(os.Interrupt)
}

func (d *daemon) wait() error {
	select {
	case err := <-d.ended:
		d.ended <- err
		return err
	case <-time.After(limit):
		return errors.New("it still runs")
	}
}

func (d *daemon) kill() {
	_ = d.command.Process.Kill()
	_ = os.RemoveAll(d.directory)
}
