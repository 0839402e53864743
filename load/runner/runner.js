// The test that k6 runs in a client. Each virtual user stays in run() until the
// load ends, so maxDuration only has to be longer than any load.
import { run } from 'k6/x/assay';

export const options = {
  scenarios: {
    assay: {
      executor: 'per-vu-iterations',
      vus: users,
      iterations: 1,
      maxDuration: '8760h',
      gracefulStop: '0s',
    },
  },
};

export default function () {
  run();
}
