package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/result"
)

// TestReportsDescribeRequests checks that all formats name method, order, list and
// authentication if they are not the ordinary ones.
func TestReportsDescribeRequests(t *testing.T) {
	listed := opened()
	listed.Run.Requests, listed.Run.RequestList = []result.Request{}, &result.RequestList{ConfigMap: "urls", Key: "a\x1b.txt", Requests: 1234}
	listed.Run.TargetRatePerSecond, listed.Run.Authentication = 1500, "Basic"
	fromFile := opened()
	fromFile.Run.Requests, fromFile.Run.RequestList = []result.Request{}, &result.RequestList{File: "urls\x1b.txt", Requests: 5}
	posted := tomcat()
	posted.Run.Requests = []result.Request{{Path: "/a", Weight: 1, Length: -1}, {Method: "POST", Path: "/b", Weight: 3, Length: -1}}
	posted.Run.Sequential, posted.Run.Cookies, posted.Run.Authentication = true, true, "Form"
	for _, test := range []struct {
		result            *result.Result
		format            string
		table             bool
		wanted, notWanted string
	}{
		{listed, "text", false, "Document Path:          1234 requests of ConfigMap urls, key a", "\x1b"},
		{listed, "text", false, "Requests are drawn by weight, and authenticated by the scheme Basic.\n", ""},
		{listed, "json", false, `"configMap": "urls"`, "\x1b"},
		{fromFile, "text", false, "Document Path:          5 requests of urls", "\x1b"},
		{fromFile, "json", false, `"file": "urls`, "configMap"},
		{listed, "text", true, "list of 1,234  keep-alive, 1,500/s, -c 25, Basic", "\x1b"},
		{listed, "csv", true, `,"list of 1,234",`, ""},
		{listed, "csv", true, ",25,1500,,Basic,", ""},
		{listed, "json", true, `"targetRatePerSecond": 1500`, ""},
		{posted, "text", false, "Document Path:          /a (weight 1 of 4)\n                        POST /b (weight 3 of 4)\n", ""},
		{posted, "text", false, "Requests are made by each connection in their order, and sent as one user per connection after a form login, " +
			"and sent with the cookies that their connection received.\n", ""},
		{posted, "markdown", true, "keep-alive, -c 25, POST, Form", ""},
		{posted, "csv", true, ",25,,GET POST,Form,", ""},
		{posted, "json", true, `"sequential": true`, ""},
		{tomcat(), "text", false, "", "Requests are"},
	} {
		var got bytes.Buffer
		var err error
		if test.table {
			err = report.WriteTable(&got, test.format, []report.Row{report.NewRow("Tomcat NIO", test.result)})
		} else {
			err = report.Write(&got, test.format, test.result)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), test.wanted) || test.notWanted != "" && strings.Contains(got.String(), test.notWanted) {
			t.Errorf("%s, table %t: want %q and not %q in\n%s", test.format, test.table, test.wanted, test.notWanted, &got)
		}
	}
}
