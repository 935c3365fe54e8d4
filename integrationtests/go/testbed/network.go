// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// controlVariable says where vdiskctl.exe is: the program that keeps the state of the network testbed.
const controlVariable = "CSI_TESTBED_CONTROL"

// ErrNoNetwork is why commands about shares, targets and services cannot be carried out.
var ErrNoNetwork = errors.New("there is no network testbed here: " + controlVariable + " is not set")

// isOfNetwork tells whether a command is for vdiskctl.exe; all others are the driver's.
func isOfNetwork(line string) bool {
	first, _, _ := strings.Cut(line, " ")
	switch first {
	case "share", "target", "session", "initiator", "network", "service":
		return true
	}
	return false
}

// HasNetwork tells whether there are shares, targets and services here.
func (b *Bed) HasNetwork() bool { return os.Getenv(controlVariable) != "" }

// shell is a vdiskctl.exe that waits for commands. It ends when this program does.
type shell struct {
	commands io.Writer
	answers  *bufio.Reader
}

func startShell() (*shell, error) {
	path := os.Getenv(controlVariable)
	if path == "" {
		return nil, ErrNoNetwork
	}
	if strings.HasPrefix(path, "/") { // of the system that Wine runs on
		path = "Z:" + filepath.FromSlash(path)
	}
	process := exec.Command(path, "shell")
	commands, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &shell{commands, bufio.NewReader(answers)}, nil
}

// ask has the shell carry out a command. An answer ends with ". ok" or ". error: TEXT".
func (s *shell) ask(line string) (string, error) {
	if _, err := io.WriteString(s.commands, line+"\n"); err != nil {
		return "", err
	}
	var answer strings.Builder
	for {
		text, err := s.answers.ReadString('\n')
		if err != nil {
			return "", err
		}
		text = strings.TrimRight(text, "\r\n")
		if text == ". ok" {
			return answer.String(), nil
		}
		if why, failed := strings.CutPrefix(text, ". error: "); failed {
			return "", errors.New(why)
		}
		answer.WriteString(text + "\n")
	}
}

func (b *Bed) askShell(line string) (string, error) {
	var err error
	if b.shell == nil {
		b.shell, err = startShell()
	}
	var answer string
	if err == nil {
		answer, err = b.shell.ask(line)
	}
	if err != nil {
		err = fmt.Errorf("testbed command %q: %w", line, err)
	}
	return answer, err
}
