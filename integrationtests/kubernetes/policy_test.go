// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
)

const (
	allowLabel        = "csi-proxy.kubernetes.io/allow-pipes"
	accountAnnotation = "csi-proxy.kubernetes.io/pipe-service-accounts"
	diskPipe          = `\\.\pipe\csi-proxy-disk-v1`
)

// Paths by which Windows may open a pipe of csi-proxy, or all pipes.
var refusedPaths = []string{
	diskPipe,
	`\\.\pipe\csi-proxy-admin-v1`,
	`//./pipe/csi-proxy-disk-v1`,
	`\\.\PIPE\CSI-Proxy-Disk-v1`,
	`//./Pipe/CSI-PROXY-DISK-V1`,
	`\\?\pipe\csi-proxy-disk-v1`,
	`//?/pipe/csi-proxy-disk-v1`,
	`\??\pipe\csi-proxy-disk-v1`,
	`\\\\.\\pipe\\csi-proxy-disk-v1`,
	`////.//pipe//csi-proxy-disk-v1`,
	`\\./pipe\/csi-proxy-disk-v1`,
	`\\.\.\pipe\csi-proxy-disk-v1`,
	`\\.\pipe\.\csi-proxy-disk-v1`,
	`\\.\pipe\x\..\csi-proxy-disk-v1`,
	`\\.\C:\..\pipe\csi-proxy-disk-v1`,
	`\\?\GLOBALROOT\Device\NamedPipe\csi-proxy-disk-v1`,
	`\Device\NamedPipe\csi-proxy-disk-v1`,
	`\\?\UNC\localhost\pipe\csi-proxy-disk-v1`,
	`\\localhost\pipe\csi-proxy-disk-v1`,
	`\\127.0.0.1\IPC$\csi-proxy-disk-v1`,
	`\\.\pipe`, `\\.\pipe\`, `//./pipe/`, `\\.\PIPE\\`, `\\?\pipe\`, `\\.\pipe\.`, `\\.\pipe\x\..`,
	`\\.\`, `\\.`, `//./`, `\\?\`, `\??\`, `\\`, `//`,
	`\\?\GLOBALROOT`, `\\?\GLOBALROOT\Device`, `\\.\GLOBALROOT\??`, `\\.\GLOBALROOT\GLOBAL??`, `\\.\Global`,
	`\\?\GLOBALROOT\Device\Mup\localhost`, `\Device`, `\Device\Mup`, `\GLOBAL??`, `\DosDevices\`, `\??`, `/Device`,
	`\\?\UNC`, `\\?\UNC\`, `\\?\UNC\localhost`, `\\localhost`, `//LOCALHOST/`, `\\localhost\share\..\pipe`,
	`\\?\C:\..\pipe\csi-proxy-disk-v1`, `\\.\C:\.. \pipe`, `\\?\C:pipe`, `\\.\NamedPipe`,
	`\\?\GLOBALROOT\Device\NamedPipe`, `\Device\NamedPipe\`, `\\localhost\pipe\`,
	// Letters that some tables of upper case make an S and an I.
	"\\\\.\\pipe\\c\u017fi-proxy-disk-v1", "\\\\localhost\\p\u0131pe\\csi-proxy-disk-v1",
}

// Paths that are none of the policy's business, on Windows and on Linux.
var otherPaths = []string{
	`C:\`, `c:/`, `C:\var\lib\kubelet`, `C:\csi-proxy-logs`, `C:\pipe\csi-proxy-disk-v1`, `D:\pipe`,
	`\\.\pipe\containerd-containerd`, `\\.\pipe\docker_engine`, `//./pipe/docker_engine`, `\\.\pipe\my-pipe`,
	`\\.\PHYSICALDRIVE1`, `\\.\HarddiskVolume1\x`, `\\server\share\csi-proxy-disk-v1`, `\\server\share`, `//server/share/données/`,
	`\\?\C:`, `\\?\C:\csi-proxy-data`, `\\.\c:\csi-proxy-data\`, `\\?\C:\données`, `//?/D:/x.y/..z`,
	`\\?\Volume{0a1b2c3d-0000-0000-0000-100000000000}\`, `\\.\pipe\ProtectedPrefix\x`, `C:\Device\NamedPipe`, `\Devices`,
	`/`, `/device-plugins`, `//var/lib`, `/var/lib/csi-proxy-data`, `/pipe/csi-proxy-disk-v1`, `/dev`, `/var/run/docker.sock`,
}

var namespaces = []corev1.Namespace{
	{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
	{ObjectMeta: metav1.ObjectMeta{Name: "denied", Labels: map[string]string{allowLabel: "false"},
		Annotations: map[string]string{accountAnnotation: "csi-node"}}},
	{ObjectMeta: metav1.ObjectMeta{Name: "drivers", Labels: map[string]string{allowLabel: "true"}}},
	{ObjectMeta: metav1.ObjectMeta{Name: "named", Labels: map[string]string{allowLabel: "true"},
		Annotations: map[string]string{accountAnnotation: "csi-node, csi-other"}}},
}

type podSpec = corev1.PodSpec

// subject is an object with a pod in it, and how it is asked for.
type subject struct {
	kind     schema.GroupVersionKind
	resource string
	make     func(podSpec) runtime.Object
}

func (s subject) object(namespace, account string, paths ...string) runtime.Object {
	spec := corev1.PodSpec{ServiceAccountName: account}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "scratch",
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	for i, path := range paths {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprintf("path-%d", i),
			VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}})
	}
	object := s.make(spec)
	legacyscheme.Scheme.Default(object)
	object.GetObjectKind().SetGroupVersionKind(s.kind)
	object.(metav1.Object).SetName("it")
	object.(metav1.Object).SetNamespace(namespace)
	return object
}

var (
	pods = subject{corev1.SchemeGroupVersion.WithKind("Pod"), "pods", func(s podSpec) runtime.Object {
		return &corev1.Pod{Spec: s}
	}}
	deployments = subject{appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func(s podSpec) runtime.Object {
		return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: s}}}
	}}
	volumes = subject{corev1.SchemeGroupVersion.WithKind("PersistentVolume"), "persistentvolumes", func(s podSpec) runtime.Object {
		return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: s.Volumes[1].HostPath}}}
	}}
	localVolumes = subject{volumes.kind, volumes.resource, func(s podSpec) runtime.Object {
		return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: s.Volumes[1].HostPath.Path}}}}
	}}
	// Everything that has a pod in it.
	subjects = []subject{pods, deployments,
		{appsv1.SchemeGroupVersion.WithKind("DaemonSet"), "daemonsets", func(s podSpec) runtime.Object {
			return &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: s}}}
		}},
		{appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "replicasets", func(s podSpec) runtime.Object {
			return &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: corev1.PodTemplateSpec{Spec: s}}}
		}},
		{appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func(s podSpec) runtime.Object {
			return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{Spec: s}}}
		}},
		{corev1.SchemeGroupVersion.WithKind("ReplicationController"), "replicationcontrollers", func(s podSpec) runtime.Object {
			return &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Template: &corev1.PodTemplateSpec{Spec: s}}}
		}},
		{corev1.SchemeGroupVersion.WithKind("PodTemplate"), "podtemplates", func(s podSpec) runtime.Object {
			return &corev1.PodTemplate{Template: corev1.PodTemplateSpec{Spec: s}}
		}},
		{batchv1.SchemeGroupVersion.WithKind("Job"), "jobs", func(s podSpec) runtime.Object {
			return &batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: s}}}
		}},
		{batchv1.SchemeGroupVersion.WithKind("CronJob"), "cronjobs", func(s podSpec) runtime.Object {
			return &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: s}}}}}
		}},
	}
)

// request keeps what the plugin writes into the audit log.
type request struct {
	admission.Attributes
	audit map[string]string
}

func (r *request) AddAnnotation(key, value string) error {
	r.audit[key] = value
	return nil
}

func (r *request) AddAnnotationWithLevel(key, value string, _ auditinternal.Level) error {
	return r.AddAnnotation(key, value)
}

// judge asks the plugin about an object; old is nil when it is made and not changed.
type judge struct{ plugin *validating.Plugin }

func (j judge) ask(s subject, object, old runtime.Object) (error, map[string]string) {
	operation := admission.Create
	var options runtime.Object = &metav1.CreateOptions{}
	if old != nil {
		operation, options = admission.Update, &metav1.UpdateOptions{}
	}
	meta := object.(metav1.Object)
	r := &request{audit: map[string]string{}, Attributes: admission.NewAttributesRecord(object, old, s.kind,
		meta.GetNamespace(), meta.GetName(), s.kind.GroupVersion().WithResource(s.resource), "", operation, options, false,
		&user.DefaultInfo{Name: "somebody"})}
	err := j.plugin.Validate(context.Background(), r, admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme))
	return err, r.audit
}

func (j judge) create(s subject, namespace, account string, paths ...string) error {
	err, _ := j.ask(s, s.object(namespace, account, paths...), nil)
	return err
}

// newJudge has the policy and the binding of the manifest, as the plugin gets them from an API server.
func newJudge(t *testing.T) judge {
	t.Helper()
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	all, err := documents(read(t, "pipe-policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i, object := range []runtime.Object{policy, binding} {
		if _, _, err := strict.UniversalDeserializer().Decode(all[i], nil, object); err != nil {
			t.Fatal(err)
		}
		legacyscheme.Scheme.Default(object)
	}
	j := judge{admissionPlugin(t, apiServer(t, policy, binding, namespaces))}
	for begun := time.Now(); j.create(pods, "plain", "", diskPipe) == nil; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatal("the plugin has not taken the policy up")
		}
	}
	return j
}

func TestAPolicyThatCannotBeEvaluatedRefuses(t *testing.T) {
	policy := find[*admissionregistration.ValidatingAdmissionPolicy](t, read(t, "pipe-policy.yaml"))
	if policy.Spec.FailurePolicy == nil || *policy.Spec.FailurePolicy != admissionregistration.Fail {
		t.Errorf("the failure policy is %v", policy.Spec.FailurePolicy)
	}
}

func TestPathsOfPipesAreRefused(t *testing.T) {
	j := newJudge(t)
	for _, path := range refusedPaths {
		err := j.create(pods, "plain", "", path)
		if err == nil {
			t.Errorf("%q is allowed", path)
		} else if !strings.Contains(err.Error(), "must not mount pipes of csi-proxy") {
			t.Errorf("%q: %v", path, err)
		}
		if err := j.create(pods, "drivers", "", path); err != nil {
			t.Errorf("where pipes are allowed: %v", err)
		}
	}
}

func TestOtherPathsAreAllowed(t *testing.T) {
	j := newJudge(t)
	if err := j.create(pods, "plain", "", otherPaths...); err != nil {
		t.Error(err)
	}
	for _, path := range otherPaths {
		if err := j.create(pods, "plain", "", path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	if err := j.create(pods, "plain", "", append(otherPaths, diskPipe)...); err == nil {
		t.Error("a pipe among other paths is allowed")
	}
}

func TestWhoMayMountThem(t *testing.T) {
	j := newJudge(t)
	for _, s := range subjects {
		for _, c := range []struct {
			namespace, account, says string
		}{
			{"plain", "csi-node", "kubectl label namespace plain csi-proxy.kubernetes.io/allow-pipes=true"},
			{"denied", "csi-node", "kubectl label namespace denied"},
			{"drivers", "", ""},
			{"drivers", "csi-node", ""},
			{"named", "csi-node", ""},
			{"named", "csi-other", ""},
			{"named", "csi", "only these may: csi-node, csi-other"},
			{"named", "", "pods of the service account default must not"},
		} {
			err := j.create(s, c.namespace, c.account, `C:\var\lib\kubelet`, diskPipe)
			switch {
			case c.says == "" && err != nil:
				t.Errorf("%s of %q in %s: %v", s.resource, c.account, c.namespace, err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%s of %q in %s: %v, which does not say %q", s.resource, c.account, c.namespace, err, c.says)
			}
			if err := j.create(s, c.namespace, c.account, `C:\var\lib\kubelet`); err != nil {
				t.Errorf("%s without pipes: %v", s.resource, err)
			}
		}
	}
}

func TestPersistentVolumesAreNoPipes(t *testing.T) {
	j := newJudge(t)
	for _, s := range []subject{volumes, localVolumes} {
		for _, path := range refusedPaths {
			err := j.create(s, "", "", path)
			if err == nil || !strings.Contains(err.Error(), "a PersistentVolume must not be a pipe") {
				t.Errorf("%q: %v", path, err)
			}
		}
		for _, path := range otherPaths {
			if err := j.create(s, "", "", path); err != nil {
				t.Errorf("%q: %v", path, err)
			}
		}
	}
}

// What was there before the policy can still be scaled, labelled and deleted.
func TestUpdates(t *testing.T) {
	j := newJudge(t)
	for _, s := range subjects[1:] {
		old := s.object("plain", "csi-node", diskPipe)
		for _, c := range []struct {
			what    string
			object  runtime.Object
			refused bool
		}{
			{"as it was", s.object("plain", "csi-node", diskPipe), false},
			{"without", s.object("plain", "csi-node"), false},
			{"another path besides", s.object("plain", "csi-node", diskPipe, `C:\x`), false},
			{"another pipe", s.object("plain", "csi-node", `\\.\pipe\csi-proxy-volume-v1`), true},
			{"a second pipe", s.object("plain", "csi-node", diskPipe, `\\.\pipe\csi-proxy-volume-v1`), true},
			{"another account", s.object("plain", "other", diskPipe), true},
		} {
			if err, _ := j.ask(s, c.object, old); (err != nil) != c.refused {
				t.Errorf("%s, %s: %v", s.resource, c.what, err)
			}
		}
	}
	bound := pods.object("plain", "csi-node", diskPipe)
	if err, _ := j.ask(pods, bound, bound); err != nil {
		t.Errorf("a pod that runs already: %v", err)
	}
}

func TestTheAuditLogTellsWhoMountsThem(t *testing.T) {
	j := newJudge(t)
	for _, namespace := range []string{"drivers", "plain"} {
		_, audit := j.ask(pods, pods.object(namespace, "csi-node", diskPipe, `C:\x`), nil)
		if audit["csi-proxy-pipes/pipes"] != "csi-node mounts "+diskPipe {
			t.Errorf("in %s: %v", namespace, audit)
		}
	}
	if _, audit := j.ask(pods, pods.object("plain", "csi-node", `C:\x`), nil); len(audit) != 0 {
		t.Errorf("without a pipe: %v", audit)
	}
}

// The manifests beside the policy: the example needs the label, the service's own pods need nothing.
func TestOurOwnManifests(t *testing.T) {
	j := newJudge(t)
	for _, c := range []struct {
		file, namespace string
		refused         bool
	}{
		{"daemonset.yaml", "plain", false},
		{"example-csi-node.yaml", "plain", true},
		{"example-csi-node.yaml", "drivers", false},
	} {
		all, err := documents(read(t, c.file))
		if err != nil {
			t.Fatal(err)
		}
		set := &appsv1.DaemonSet{}
		if _, _, err := strict.UniversalDeserializer().Decode(all[len(all)-1], nil, set); err != nil {
			t.Fatal(err)
		}
		set.Namespace = c.namespace
		if err, _ := j.ask(subjects[2], set, nil); (err != nil) != c.refused {
			t.Errorf("%s in %s: %v", c.file, c.namespace, err)
		}
	}
}
