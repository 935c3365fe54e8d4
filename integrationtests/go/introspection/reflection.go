// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/grpc/codes"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var listed = []string{"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
	"grpc.reflection.v1alpha.ServerReflection", "v1.Admin"}

// asker is a reflection stream of either version.
type asker interface {
	ask(*v1.ServerReflectionRequest) (*v1.ServerReflectionResponse, error)
	end() error
}

type askerV1 struct {
	stream v1.ServerReflection_ServerReflectionInfoClient
}

func (a askerV1) ask(request *v1.ServerReflectionRequest) (*v1.ServerReflectionResponse, error) {
	if err := a.stream.Send(request); err != nil {
		return nil, err
	}
	return a.stream.Recv()
}

func (a askerV1) end() error {
	if err := a.stream.CloseSend(); err != nil {
		return err
	}
	_, err := a.stream.Recv()
	return err
}

type askerV1alpha struct {
	stream v1alpha.ServerReflection_ServerReflectionInfoClient
}

// The messages differ in their package only.
func (a askerV1alpha) ask(request *v1.ServerReflectionRequest) (*v1.ServerReflectionResponse, error) {
	var alphaRequest v1alpha.ServerReflectionRequest
	response := new(v1.ServerReflectionResponse)
	if err := convert(request, &alphaRequest); err != nil {
		return nil, err
	}
	if err := a.stream.Send(&alphaRequest); err != nil {
		return nil, err
	}
	alphaResponse, err := a.stream.Recv()
	if err != nil {
		return nil, err
	}
	return response, convert(alphaResponse, response)
}

func (a askerV1alpha) end() error {
	if err := a.stream.CloseSend(); err != nil {
		return err
	}
	_, err := a.stream.Recv()
	return err
}

func convert(from, to proto.Message) error {
	bytes, err := proto.Marshal(from)
	if err != nil {
		return err
	}
	return proto.Unmarshal(bytes, to)
}

func (s *suite) reflection() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	streamV1, err := v1.NewServerReflectionClient(s.conn).ServerReflectionInfo(ctx)
	if s.check("reflection v1 begins", err) {
		s.questions("v1", askerV1{streamV1})
	}
	streamAlpha, err := v1alpha.NewServerReflectionClient(s.conn).ServerReflectionInfo(ctx)
	if s.check("reflection v1alpha begins", err) {
		s.questions("v1alpha", askerV1alpha{streamAlpha})
	}
}

func (s *suite) questions(version string, a asker) {
	check := func(name string, err error) { s.check("reflection "+version+": "+name, err) }
	names, err := listServices(a)
	if err == nil && !slices.Equal(names, listed) {
		err = fmt.Errorf("%q", names)
	}
	check("list_services", err)
	for _, name := range names {
		files, err := resolve(a, name)
		check("describes "+name, err)
		if err == nil && name == "v1.Admin" {
			check("v1.Admin/GetVersion is callable by what was described", s.callVersion(files))
		}
	}
	for symbol, file := range map[string]string{
		"v1.Filesystem":             "filesystem/v1/api.proto",
		"v1.Filesystem.PathExists":  "filesystem/v1/api.proto",
		"v1beta1.Disk":              "disk/v1beta1/api.proto",
		"v1alpha2.Iscsi":            "iscsi/v1alpha2/api.proto",
		"v1.PathExistsRequest":      "filesystem/v1/api.proto",
		"v1.PathExistsRequest.path": "filesystem/v1/api.proto",
		"v1.DiskDetails":            "admin/v1/api.proto",
		"v1.Disk":                   "disk/v1/api.proto",
		"v1.PART_STATE_MISSING":     "admin/v1/api.proto",
		"grpc.health.v1.HealthCheckResponse.ServingStatus":           "grpc/health/v1/health.proto",
		"grpc.health.v1.HealthCheckResponse.SERVING":                 "grpc/health/v1/health.proto",
		"grpc.reflection.v1.ServerReflectionRequest.message_request": "grpc/reflection/v1/reflection.proto",
	} {
		got, err := fileOf(a, &v1.ServerReflectionRequest{
			MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol}})
		if err == nil && got.GetName() != file {
			err = fmt.Errorf("%s, and not %s", got.GetName(), file)
		}
		check("finds "+symbol, err)
	}
	for _, name := range []string{"filesystem/v1/api.proto", "volume/v2alpha1/api.proto", "admin/v1/api.proto"} {
		got, err := fileOf(a, &v1.ServerReflectionRequest{
			MessageRequest: &v1.ServerReflectionRequest_FileByFilename{FileByFilename: name}})
		if err == nil && got.GetName() != name {
			err = errors.New(got.GetName())
		}
		check("has "+name, err)
	}
	for what, question := range map[string]*v1.ServerReflectionRequest{
		"unknown file": {MessageRequest: &v1.ServerReflectionRequest_FileByFilename{FileByFilename: "nothing.proto"}},
		"unknown symbol": {MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: "v1.Nothing"}},
		"package":      {MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "v1"}},
		"empty symbol": {MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{}},
		"extension": {MessageRequest: &v1.ServerReflectionRequest_FileContainingExtension{
			FileContainingExtension: &v1.ExtensionRequest{ContainingType: "v1.Disk", ExtensionNumber: 7}}},
		"extension numbers": {MessageRequest: &v1.ServerReflectionRequest_AllExtensionNumbersOfType{
			AllExtensionNumbersOfType: "v1.Disk"}},
	} {
		check("does not find "+what, expectError(a, question, codes.NotFound))
	}
	check("refuses to be asked nothing", expectError(a, &v1.ServerReflectionRequest{}, codes.InvalidArgument))
	if err := a.end(); errors.Is(err, io.EOF) {
		check("ends", nil)
	} else {
		check("ends", fmt.Errorf("%v, and not EOF", err))
	}
}

func expectError(a asker, question *v1.ServerReflectionRequest, code codes.Code) error {
	response, err := a.ask(question)
	if err != nil {
		return err
	}
	if !proto.Equal(response.GetOriginalRequest(), question) {
		return fmt.Errorf("the question came back as %v", response.GetOriginalRequest())
	}
	if answer := response.GetErrorResponse(); answer == nil || answer.GetErrorCode() != int32(code) {
		return fmt.Errorf("%v", response)
	}
	return nil
}

func listServices(a asker) ([]string, error) {
	response, err := a.ask(&v1.ServerReflectionRequest{
		MessageRequest: &v1.ServerReflectionRequest_ListServices{ListServices: "*"}})
	var names []string
	for _, service := range response.GetListServicesResponse().GetService() {
		names = append(names, service.GetName())
	}
	slices.Sort(names)
	return names, err
}

// All files of an answer; the first is what was asked for.
func filesOf(a asker, question *v1.ServerReflectionRequest) (*descriptorpb.FileDescriptorSet, error) {
	response, err := a.ask(question)
	if err != nil {
		return nil, err
	}
	if failure := response.GetErrorResponse(); failure != nil {
		return nil, errors.New(failure.GetErrorMessage())
	}
	set := new(descriptorpb.FileDescriptorSet)
	for _, bytes := range response.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(bytes, file); err != nil {
			return nil, err
		}
		set.File = append(set.File, file)
	}
	if len(set.GetFile()) == 0 {
		return nil, errors.New("no files")
	}
	return set, nil
}

func fileOf(a asker, question *v1.ServerReflectionRequest) (*descriptorpb.FileDescriptorProto, error) {
	set, err := filesOf(a, question)
	if err != nil {
		return nil, err
	}
	return set.GetFile()[0], nil
}

// resolve links all that an answer has, and finds the service in it.
func resolve(a asker, service string) (*protoregistry.Files, error) {
	set, err := filesOf(a, &v1.ServerReflectionRequest{
		MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}})
	if err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return nil, err
	}
	if descriptor, ok := found.(protoreflect.ServiceDescriptor); !ok || descriptor.Methods().Len() == 0 {
		return nil, fmt.Errorf("%v is no service", found)
	}
	return files, nil
}

// callVersion knows nothing of the API but what reflection told.
func (s *suite) callVersion(files *protoregistry.Files) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	found, err := files.FindDescriptorByName("v1.Admin.GetVersion")
	if err != nil {
		return err
	}
	method := found.(protoreflect.MethodDescriptor)
	response := dynamicpb.NewMessage(method.Output())
	if err := s.conn.Invoke(ctx, "/v1.Admin/GetVersion", dynamicpb.NewMessage(method.Input()), response); err != nil {
		return err
	}
	services := response.Get(method.Output().Fields().ByName("api_versions")).List()
	if services.Len() != 24 {
		return fmt.Errorf("%d API versions, and not 23 and the admin group", services.Len())
	}
	return nil
}
