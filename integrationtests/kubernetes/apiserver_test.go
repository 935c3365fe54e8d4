// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// apiServer answers the three lists that the admission plugin asks for. Nothing ever changes in it: a watch stays
// open and says nothing.
func apiServer(t *testing.T, policy *admissionv1.ValidatingAdmissionPolicy,
	binding *admissionv1.ValidatingAdmissionPolicyBinding, namespaces []corev1.Namespace) *httptest.Server {
	first := metav1.ListMeta{ResourceVersion: "1"}
	lists := map[string]any{
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies": &admissionv1.ValidatingAdmissionPolicyList{
			ListMeta: first, Items: []admissionv1.ValidatingAdmissionPolicy{*policy}},
		"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings": &admissionv1.ValidatingAdmissionPolicyBindingList{
			ListMeta: first, Items: []admissionv1.ValidatingAdmissionPolicyBinding{*binding}},
		"/api/v1/namespaces": &corev1.NamespaceList{ListMeta: first, Items: namespaces},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list, known := lists[r.URL.Path]
		switch {
		case !known:
			http.NotFound(w, r)
		case r.URL.Query().Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(list); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// admissionPlugin is the plugin ValidatingAdmissionPolicy of Kubernetes' API server, with a client of that server.
func admissionPlugin(t *testing.T, server *httptest.Server) *validating.Plugin {
	config := &rest.Config{Host: server.URL}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	untyped, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin := validating.NewPlugin(nil)
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetDynamicClient(untyped)
	plugin.SetRESTMapper(meta.NewDefaultRESTMapper(nil))
	plugin.SetAuthorizer(authorizerfactory.NewAlwaysDenyAuthorizer())
	plugin.SetDrainedNotification(stop)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	factory.Start(stop)
	return plugin
}
