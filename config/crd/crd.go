// Package crd holds the CustomResourceDefinitions.
package crd

import "embed"

// Bases has a file for each kind.
//
//go:embed bases/*.yaml
var Bases embed.FS
