package webserver

import (
	"fmt"
	"strings"
)

// mimeTypes are the usual types of files with their file name extensions, as in
// the lists of both httpd and nginx (https://www.iana.org/assignments/media-types).
// Both send them without a charset unless one is configured.
var mimeTypes = []struct{ name, extensions string }{
	{"application/atom+xml", "atom"},
	{"application/gzip", "gz"},
	{"application/java-archive", "jar war ear"},
	{"application/json", "json map"},
	{"application/ld+json", "jsonld"},
	{"application/manifest+json", "webmanifest"},
	{"application/msword", "doc"},
	{"application/octet-stream", "bin dat deb dmg exe img iso msi"},
	{"application/pdf", "pdf"},
	{"application/postscript", "ps ai eps"},
	{"application/rss+xml", "rss"},
	{"application/rtf", "rtf"},
	{"application/vnd.ms-excel", "xls"},
	{"application/vnd.ms-fontobject", "eot"},
	{"application/vnd.ms-powerpoint", "ppt"},
	{"application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"},
	{"application/wasm", "wasm"},
	{"application/x-7z-compressed", "7z"},
	{"application/x-bzip2", "bz2"},
	{"application/x-tar", "tar"},
	{"application/xhtml+xml", "xhtml"},
	{"application/xml", "xml xsl xsd"},
	{"application/yaml", "yaml yml"},
	{"application/zip", "zip"},
	{"application/zstd", "zst"},
	{"audio/flac", "flac"},
	{"audio/mp4", "m4a"},
	{"audio/mpeg", "mp3"},
	{"audio/ogg", "ogg oga opus"},
	{"audio/wav", "wav"},
	{"font/otf", "otf"},
	{"font/ttf", "ttf"},
	{"font/woff", "woff"},
	{"font/woff2", "woff2"},
	{"image/avif", "avif"},
	{"image/bmp", "bmp"},
	{"image/gif", "gif"},
	{"image/jpeg", "jpg jpeg"},
	{"image/png", "png"},
	{"image/svg+xml", "svg"},
	{"image/tiff", "tif tiff"},
	{"image/webp", "webp"},
	{"image/x-icon", "ico"},
	{"text/calendar", "ics"},
	{"text/css", "css"},
	{"text/csv", "csv"},
	{"text/html", "html htm shtml"},
	{"text/javascript", "js mjs"},
	{"text/markdown", "md"},
	{"text/plain", "txt text log conf"},
	{"video/mp4", "mp4 m4v"},
	{"video/mpeg", "mpeg mpg"},
	{"video/ogg", "ogv"},
	{"video/quicktime", "mov"},
	{"video/webm", "webm"},
}

// MIMETypes returns the list with each entry formatted: its name and the ends of file names.
func MIMETypes(format string) string {
	var text strings.Builder
	for _, t := range mimeTypes {
		fmt.Fprintf(&text, format, t.name, t.extensions)
	}
	return text.String()
}
