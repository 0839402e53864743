// A load of Assay as a k6 script. To run it:
//   {{.Command}}
{{- if gt (len .Stages) 1}}
// and before it the warm-up, with -e STAGE=warmup.
{{- end}}
import http from 'k6/http';
import { {{if .Lengths}}check, {{end}}{{if .Chooses}}randomSeed, {{end}}sleep } from 'k6';
{{- if .Generates}}
import { randomBytes } from 'k6/crypto';
{{- end}}
{{- if .List}}
import { SharedArray } from 'k6/data';
{{- end}}
{{- if or .Open .ThinkTime}}
import exec from 'k6/execution';
{{- end}}

const base = __ENV.BASE_URL || {{js .URL}};
const stage = __ENV.STAGE || 'measurement';

const scenarios = {
{{- range .Stages}}
  {{.Name}}: {{js .Scenario}},
{{- end}}
};

export const options = Object.assign({{js .Options}}, { scenarios: { [stage]: scenarios[stage] } });
{{- if .Certificate}}
if (__ENV.CLIENT_CERTIFICATE) {
  options.tlsAuth = [{ cert: open(__ENV.CLIENT_CERTIFICATE), key: open(__ENV.CLIENT_KEY || __ENV.CLIENT_CERTIFICATE) }];
}
{{- end}}
{{if .List}}
const requests = new SharedArray('requests', () => [
{{- range .Requests}}
  {{js .}},
{{- end}}
]);
{{else}}
const requests = [
{{- range .Requests}}
  {{js .}},
{{- end}}
];
{{end}}
// Redirects aren't followed. Statuses from 200 to 399 are a success unless a request has others.
function paramsOf(r, index) {
  const params = {
    headers: {{if .Authenticates}}Object.assign({ Authorization: __ENV.AUTHORIZATION }, r.headers){{else}}r.headers{{end}},
    timeout: {{js .Timeout}},
    redirects: 0,
    responseType: r.length === undefined ? 'none' : 'binary',
    tags: {{if .List}}{ name: 'list' }{{else}}{ name: r.method + ' ' + r.path, request: String(index) }{{end}},
  };
  if (r.statuses) {
    params.responseCallback = http.expectedStatuses(...r.statuses);
  }
  if (r.length !== undefined) {
    params.tags.length = String(r.length);
  }
  return params;
}
{{- if not .List}}
const params = requests.map(paramsOf);
const bodies = requests.map((r) => {{if .Generates}}r.bytes ? randomBytes(r.bytes) : {{end}}r.body || null);
{{- end}}

{{- if gt (len .Requests) 1}}
{{if .Chooses}}
randomSeed({{.Seed}} + __VU);
{{end}}
// at returns the index of the request with a number below the sum of the weights.
function at(n) {
{{- if .Weighted}}
  let from = 0;
  let to = requests.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (n < requests[middle].upTo) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
{{- else}}
  return n;
{{- end}}
}
{{- end}}

{{if and .Sequential (gt (len .Requests) 1)}}let made = 0;
{{end}}let failures = 0;

export default function () {
{{- if .Open}}
  const due = { {{- range $i, $s := .Stages}}{{if $i}}, {{end}}{{.Name}}: {{.Requests}}{{end -}} };
  if (exec.scenario.iterationInInstance >= due[stage]) {
    return; // k6 starts one more
  }
{{- end}}
  const index = {{if eq (len .Requests) 1}}0{{else}}at({{if .Sequential}}made++ % {{.Total}}{{else}}Math.floor(Math.random() * {{.Total}}){{end}}){{end}};
  const r = requests[index];
  const response = http.request(r.method, base + r.path, {{if .List}}null, paramsOf(r, index){{else}}bodies[index], params[index]{{end}});
{{- if .Lengths}}
  if (r.length !== undefined) {
    const length = response.body ? response.body.byteLength : 0;
    check(length, { 'the body has the expected length': (n) => n === r.length }, { length: String(r.length) });
  }
{{- end}}
  // A server that refuses connections gets no flood of them: codes of k6 for failures to open a connection.
  const code = response.error_code;
  if ((code >= 1100 && code < 1200) || (code >= 1210 && code < 1214) || (code >= 1300 && code < 1400)) {
    failures += 1;
    sleep(Math.min(0.01 * 2 ** (failures - 1), 0.1));
  } else {
    failures = 0;
  }
{{- with .ThinkTime}}
  const length = { {{- range $i, $s := $.Stages}}{{if $i}}, {{end}}{{.Name}}: {{if .Milliseconds}}{{.Milliseconds}}{{else}}Infinity{{end}}{{end -}} };
  const left = (exec.scenario.startTime + length[stage] - Date.now()) / 1000;
  sleep(Math.max(0, Math.min({{.Min}} + Math.random() * {{.Range}}, left)));
{{- end}}
}
