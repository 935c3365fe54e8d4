// The oldest released client of the original: of the filesystem group it has v1alpha1 only. Build with -tags oldest.
module csi-proxy/integrationtests

go 1.22

require (
	github.com/kubernetes-csi/csi-proxy/client v0.2.0
	google.golang.org/grpc v1.27.0
)

require (
	github.com/Microsoft/go-winio v0.4.14 // indirect
	github.com/golang/protobuf v1.4.1 // indirect
	github.com/pkg/errors v0.8.1 // indirect
	golang.org/x/net v0.0.0-20190311183353-d8887717615a // indirect
	golang.org/x/sys v0.0.0-20190507160741-ecd444e8653b // indirect
	golang.org/x/text v0.3.0 // indirect
	google.golang.org/genproto v0.0.0-20200526211855-cb27e3aa2013 // indirect
	google.golang.org/protobuf v1.25.0 // indirect
)
