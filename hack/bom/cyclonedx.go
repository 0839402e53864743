package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// minCoverage is the least percentage of a text that a known license must cover.
const minCoverage = 75

// patents is licensecheck's name of a grant that isn't a license, and has no SPDX identifier.
const patents = "GooglePatentsFile"

// encode returns the CycloneDX bill of materials of an image. It has neither a time nor a serial
// number, so that it changes only with the image.
func encode(image, version, goVersion string, components []component) ([]byte, error) {
	root := cdx.Component{BOMRef: "image:" + image, Type: cdx.ComponentTypeContainer, Name: image, Version: version}
	all := []cdx.Component{{
		BOMRef: "pkg:golang/std@" + goVersion, Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion,
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(goVersion, "go"), Licenses: choices([]string{"BSD-3-Clause"}),
	}}
	refs := []string{all[0].BOMRef}
	for _, c := range components {
		purl := "pkg:golang/" + c.path + "@" + c.version
		encoded := cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: c.path, Version: c.version, PackageURL: purl, Licenses: choices(identifiers(c.texts)),
		}
		if c.sum != "" {
			hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(c.sum, "h1:"))
			if err != nil {
				return nil, fmt.Errorf("read the sum of %s: %w", c.path, err)
			}
			encoded.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
		}
		all, refs = append(all, encoded), append(refs, purl)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &root}
	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: root.BOMRef, Dependencies: &refs}}
	var text bytes.Buffer
	if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("encode the bill of materials: %w", err)
	}
	return text.Bytes(), nil
}

// identifiers returns the SPDX identifiers of the licenses in texts, sorted.
func identifiers(texts map[string][]byte) []string {
	found := map[string]bool{}
	for _, text := range texts {
		coverage := licensecheck.Scan(text)
		if coverage.Percent < minCoverage {
			continue
		}
		for _, match := range coverage.Match {
			if !match.IsURL && match.ID != patents {
				found[match.ID] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func choices(identifiers []string) *cdx.Licenses {
	if len(identifiers) == 0 {
		return nil
	}
	var all cdx.Licenses
	for _, id := range identifiers {
		all = append(all, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	return &all
}
