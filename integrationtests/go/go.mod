// The current client of the original, with the gRPC that its newest server is built with.
module csi-proxy/integrationtests

go 1.22

require (
	github.com/Microsoft/go-winio v0.4.16
	github.com/kubernetes-csi/csi-proxy/client v1.3.0
	google.golang.org/grpc v1.69.2
	google.golang.org/protobuf v1.35.1
)

require (
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/net v0.30.0 // indirect
	golang.org/x/sys v0.26.0 // indirect
	golang.org/x/text v0.19.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20241015192408-796eee8c2d53 // indirect
)
