// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const serviceStartLimit = 20 * time.Second

// service is csi-proxy, run by this program so that it can be made to crash.
type service struct {
	exe     string
	flags   []string
	process *exec.Cmd
	log     *tail
}

// tail keeps the last lines that the service wrote.
type tail struct {
	mutex sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	const kept = 40
	t.lines = append(t.lines, line)
	if len(t.lines) > kept {
		t.lines = t.lines[len(t.lines)-kept:]
	}
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return strings.Join(t.lines, "\n")
}

// start returns when the service serves.
func (s *service) start() error {
	s.process = exec.Command(s.exe, s.flags...)
	s.log = &tail{}
	output, writer := io.Pipe()
	s.process.Stdout, s.process.Stderr = writer, writer
	if err := s.process.Start(); err != nil {
		return err
	}
	serving := make(chan struct{})
	go func(log *tail) {
		lines := bufio.NewScanner(output)
		for open := true; lines.Scan(); {
			log.add(lines.Text())
			if open && strings.Contains(lines.Text(), "] Serving ") {
				close(serving)
				open = false
			}
		}
	}(s.log)
	select {
	case <-serving:
		return nil
	case <-time.After(serviceStartLimit):
		s.kill()
		return fmt.Errorf("the service did not start:\n%s", s.log)
	}
}

// kill ends the service at once, as a crash does.
func (s *service) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

func (s *service) restart() error {
	s.kill()
	return s.start()
}
