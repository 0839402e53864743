import ws from 'k6/ws';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const echoes = new Counter('echoes');

export const options = { vus: 2, iterations: 4, thresholds: { echoes: ['count==12'], ws_sessions: ['count==4'], ws_msgs_sent: ['count==12'], ws_connecting: ['max<10000'], checks: ['rate==1'] } };

export default function () {
  const res = ws.connect(__ENV.WS_URL, { headers: { 'X-User': 'ada' }, tags: { kind: 'chat' } }, (socket) => {
    socket.on('open', () => socket.send('0'));
    socket.on('message', (text) => {
      echoes.add(1);
      const n = Number(text) + 1;
      if (n === 3) {
        socket.close();
      } else {
        socket.send(`${n}`);
      }
    });
    socket.setTimeout(() => socket.close(), 5000);
  });
  check(res, { 'status is 101': (r) => r && r.status === 101 });
}
