// A load of Assay as a k6 script. To run it:
//   GODEBUG=http2client=0 k6 run --no-usage-report FILE
// and before it the warm-up, with -e STAGE=warmup.
import http from 'k6/http';
import { sleep } from 'k6';
import exec from 'k6/execution';

const base = __ENV.BASE_URL || "http://127.0.0.1:8080";
const stage = __ENV.STAGE || 'measurement';

const scenarios = {
  warmup: {"executor":"constant-arrival-rate","rate":100,"timeUnit":"1s","duration":"1s","preAllocatedVUs":4,"gracefulStop":"31s"},
  measurement: {"executor":"ramping-arrival-rate","startRate":10,"timeUnit":"1s","stages":[{"duration":"10s","target":100},{"duration":"14.51s","target":100}],"preAllocatedVUs":4,"gracefulStop":"31s"},
};

export const options = Object.assign({"userAgent":"assay-load","systemTags":["check","error","error_code","expected_response","method","name","proto","scenario","status","vu"]}, { scenarios: { [stage]: scenarios[stage] } });

const requests = [
  {"method":"GET","path":"/a.html","headers":{"Accept":"*/*"}},
];

// Redirects aren't followed. Statuses from 200 to 399 are a success unless a request has others.
function paramsOf(r, index) {
  const params = {
    headers: r.headers,
    timeout: "30s",
    redirects: 0,
    responseType: r.length === undefined ? 'none' : 'binary',
    tags: { name: r.method + ' ' + r.path, request: String(index) },
  };
  if (r.statuses) {
    params.responseCallback = http.expectedStatuses(...r.statuses);
  }
  if (r.length !== undefined) {
    params.tags.length = String(r.length);
  }
  return params;
}
const params = requests.map(paramsOf);
const bodies = requests.map((r) => r.body || null);

let failures = 0;

export default function () {
  const due = {warmup: 50, measurement: 2000};
  if (exec.scenario.iterationInInstance >= due[stage]) {
    return; // k6 starts one more
  }
  const index = 0;
  const r = requests[index];
  const response = http.request(r.method, base + r.path, bodies[index], params[index]);
  // A server that refuses connections gets no flood of them: codes of k6 for failures to open a connection.
  const code = response.error_code;
  if ((code >= 1100 && code < 1200) || (code >= 1210 && code < 1214) || (code >= 1300 && code < 1400)) {
    failures += 1;
    sleep(Math.min(0.01 * 2 ** (failures - 1), 0.1));
  } else {
    failures = 0;
  }
}
