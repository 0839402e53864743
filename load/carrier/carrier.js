// The test that k6 runs in a client. Its virtual users stay in carry() for as
// long as there is load: its duration only has to be long enough.
import { carry } from 'k6/x/assay';

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
  carry();
}
