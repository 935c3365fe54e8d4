// The current client of the original, with the oldest gRPC it allows: 1.38 sends raw backslashes in :authority.
module csi-proxy/integrationtests

go 1.22

require (
	github.com/kubernetes-csi/csi-proxy/client v1.3.0
	google.golang.org/grpc v1.38.0
)

require (
	github.com/Microsoft/go-winio v0.4.16 // indirect
	github.com/golang/protobuf v1.4.3 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/net v0.0.0-20190311183353-d8887717615a // indirect
	golang.org/x/sys v0.0.0-20190916202348-b4ddaad3f8a3 // indirect
	golang.org/x/text v0.3.0 // indirect
	google.golang.org/genproto v0.0.0-20200526211855-cb27e3aa2013 // indirect
	google.golang.org/protobuf v1.25.0 // indirect
)
