# The two images of Assay, for those who build with a Docker engine:
#   docker build --target assay -t assay .
#   docker build --target assay-load -t assay-load .
# `make images` builds the same without one.

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"
WORKDIR /src

FROM build AS build-assay
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w" -o /out/ ./cmd/manager ./cmd/agent

FROM build AS build-assay-load
COPY . .
WORKDIR /src/load
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w" -o /out/ ./cmd/assay-load

FROM scratch AS assay-load
COPY --from=build-assay-load /out/assay-load /assay-load
USER 65532:65532
ENTRYPOINT ["/assay-load"]

FROM scratch AS assay
COPY --from=build-assay /out/manager /out/agent /
USER 65532:65532
ENTRYPOINT ["/manager"]
