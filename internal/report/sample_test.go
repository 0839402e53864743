package report_test

import "github.com/assay-dev/assay/internal/report/reporttest"

// The results that the tests report.
var (
	tomcat, failing, nothing, standalone = reporttest.Tomcat, reporttest.Failing, reporttest.Nothing, reporttest.Standalone
	opened, staged, paged, forwarding    = reporttest.Opened, reporttest.Staged, reporttest.Paged, reporttest.Forwarding
)
