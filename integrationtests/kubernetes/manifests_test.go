// SPDX-License-Identifier: Apache-2.0

// Package kubernetes checks the manifests of scripts/deploy/kubernetes offline, by the code that the API server runs:
// strict decoding, defaults, validation, and the admission plugin for the policy.
package kubernetes

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	admissionvalidation "k8s.io/kubernetes/pkg/apis/admissionregistration/validation"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const directory = "../../scripts/deploy/kubernetes"

var strict = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)

// As in a cluster that allows privileged pods.
func TestMain(m *testing.M) {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	os.Exit(m.Run())
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func documents(text string) ([][]byte, error) {
	var all [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, document)
	}
}

func validate(object runtime.Object) field.ErrorList {
	switch object := object.(type) {
	case *core.Namespace:
		return corevalidation.ValidateNamespace(object)
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(object)
	case *apps.DaemonSet:
		return appsvalidation.ValidateDaemonSet(object,
			podutil.GetValidationOptionsFromPodTemplate(&object.Spec.Template, nil))
	case *admissionregistration.ValidatingAdmissionPolicy:
		return admissionvalidation.ValidateValidatingAdmissionPolicy(object)
	case *admissionregistration.ValidatingAdmissionPolicyBinding:
		return admissionvalidation.ValidateValidatingAdmissionPolicyBinding(object)
	}
	return field.ErrorList{field.InternalError(nil, fmt.Errorf("nobody validates a %T", object))}
}

// podMonitor is apart: its kind is none of Kubernetes' own.
func podMonitor(document []byte) (*monitoringv1.PodMonitor, error) {
	monitor := &monitoringv1.PodMonitor{}
	if err := yaml.UnmarshalStrict(document, monitor); err != nil {
		return nil, err
	}
	if monitor.APIVersion != "monitoring.coreos.com/v1" || monitor.Kind != "PodMonitor" {
		return nil, fmt.Errorf("%s %s is no PodMonitor", monitor.APIVersion, monitor.Kind)
	}
	return monitor, nil
}

// load decodes, completes with defaults and validates everything in the text.
func load(text string) ([]runtime.Object, error) {
	all, err := documents(text)
	if err != nil {
		return nil, err
	}
	var objects []runtime.Object
	for _, document := range all {
		if strings.Contains(string(document), "kind: PodMonitor") {
			if _, err := podMonitor(document); err != nil {
				return nil, err
			}
			continue
		}
		object, _, err := strict.UniversalDecoder().Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		if errors := validate(object); len(errors) > 0 {
			return nil, errors.ToAggregate()
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// find is the one object of its type.
func find[T runtime.Object](t *testing.T, text string) T {
	t.Helper()
	objects, err := load(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if found, ok := object.(T); ok {
			return found
		}
	}
	var none T
	t.Fatalf("there is no %T", none)
	return none
}

func TestManifestsAreValid(t *testing.T) {
	for name, kinds := range map[string]int{"daemonset.yaml": 3, "example-csi-node.yaml": 2, "pipe-policy.yaml": 2,
		"podmonitor.yaml": 0} {
		objects, err := load(read(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(objects) != kinds {
			t.Errorf("%s has %d objects in place of %d", name, len(objects), kinds)
		}
	}
}

// Each edit must be noticed, or the test above shows nothing.
func TestBrokenManifestsAreRefused(t *testing.T) {
	for _, edit := range []struct{ file, old, new, says string }{
		{"daemonset.yaml", "hostNetwork: true", "hostNetwork: false", "hostNetwork must be true"},
		{"daemonset.yaml", "updateStrategy:", "updateStrategie:", "unknown field"},
		{"daemonset.yaml", "        name: windows\n", "        name: linux\n", "windowsOptions"},
		{"daemonset.yaml", "runAsUserName: NT AUTHORITY\\SYSTEM", "runAsUserName: a/b", "runAsUserName"},
		{"daemonset.yaml", "      app.kubernetes.io/name: csi-proxy\n  updateStrategy", "      app: x\n  updateStrategy",
			"selector"},
		{"daemonset.yaml", "memory: 128Mi", "memory: 16Mi", "less than or equal to memory limit"},
		{"example-csi-node.yaml", "name: csi-proxy-disk-v1\n              mountPath",
			"name: csi-proxy-disk-v2\n              mountPath", "Not found"},
		{"pipe-policy.yaml", "variables.inAllowedNamespace\n", "variables.inAllowedNamespaces\n", "inAllowedNamespaces"},
		{"pipe-policy.yaml", "validationActions: [Deny, Audit]", "validationActions: [Deny, Warn]", "validationActions"},
		{"podmonitor.yaml", "podMetricsEndpoints:", "endpoints:", "unknown field"},
	} {
		text := read(t, edit.file)
		if !strings.Contains(text, edit.old) {
			t.Errorf("%s has no %q", edit.file, edit.old)
			continue
		}
		_, err := load(strings.Replace(text, edit.old, edit.new, 1))
		if err == nil || !strings.Contains(err.Error(), edit.says) {
			t.Errorf("%s with %q: %v", edit.file, edit.new, err)
		}
	}
}

// version is that of the project.
func version(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`project\(csi-proxy VERSION ([0-9.]+)`).FindStringSubmatch(read(t, "../../../CMakeLists.txt"))
	if found == nil {
		t.Fatal("CMakeLists.txt names no version")
	}
	return found[1]
}

func TestTagsAreTheVersion(t *testing.T) {
	for _, name := range []string{"daemonset.yaml", "Dockerfile"} {
		if image := "registry.example.com/csi-proxy:v" + version(t) + " "; !strings.Contains(read(t, name), image) {
			t.Errorf("%s does not name %s", name, image)
		}
	}
}

func TestKustomizationBuilds(t *testing.T) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), directory)
	if err != nil {
		t.Fatal(err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	image := find[*apps.DaemonSet](t, string(text)).Spec.Template.Spec.Containers[0].Image
	if image != "registry.example.com/csi-proxy:v"+version(t) {
		t.Errorf("the image is %s", image)
	}
	if built.Size() != 6 {
		t.Errorf("there are %d objects", built.Size())
	}
}

func TestPodMonitorFindsTheDaemonSet(t *testing.T) {
	set := find[*apps.DaemonSet](t, read(t, "daemonset.yaml"))
	monitor, err := podMonitor([]byte(read(t, "podmonitor.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range monitor.Spec.Selector.MatchLabels {
		if set.Spec.Template.Labels[name] != value {
			t.Errorf("the pods are not labelled %s=%s", name, value)
		}
	}
	port := set.Spec.Template.Spec.Containers[0].Ports[0]
	endpoint := monitor.Spec.PodMetricsEndpoints[0]
	if endpoint.Port == nil || *endpoint.Port != port.Name || monitor.Namespace != set.Namespace {
		t.Errorf("the monitor does not lead to port %s in %s", port.Name, set.Namespace)
	}
	address := fmt.Sprintf("-metrics-bind-address=$(HOST_IP):%d", port.HostPort)
	if !slices.Contains(set.Spec.Template.Spec.Containers[0].Args, address) {
		t.Errorf("the service is not told %s", address)
	}
}

// What follows the place of the program are flags of the service: the program itself says whether they are right.
func TestTheServiceKnowsItsFlags(t *testing.T) {
	program := os.Getenv("CSI_PROXY_NATIVE")
	if program == "" {
		t.Skip("CSI_PROXY_NATIVE does not name the program")
	}
	arguments := find[*apps.DaemonSet](t, read(t, "daemonset.yaml")).Spec.Template.Spec.Containers[0].Args
	place := slices.Index(arguments, "-to")
	if place < 0 || !slices.Equal(arguments[:place], []string{"install", "-keep"}) {
		t.Fatalf("the container runs %v", arguments)
	}
	var flags []string
	for _, argument := range arguments[place+2:] {
		flags = append(flags, strings.ReplaceAll(argument, "$(HOST_IP)", "192.0.2.1"))
	}
	check := exec.Command(program, append([]string{"-check-config", "-pipe-prefix=csi-proxy-"}, flags...)...)
	check.Dir = t.TempDir() // for a log file
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", flags, err, output)
	}
}
