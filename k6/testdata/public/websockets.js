import { WebSocket } from 'k6/websockets';
import { check } from 'k6';

export const options = { vus: 2, iterations: 4, thresholds: { checks: ['rate==1'], ws_msgs_received: ['count==8'] } };

export default function () {
  const socket = new WebSocket(__ENV.WS_URL, null, { tags: { kind: 'chat' } });
  let seen = 0;
  socket.addEventListener('open', () => {
    socket.send('hello');
    socket.send(JSON.stringify({ type: 'price', item: 7 }));
  });
  socket.addEventListener('message', (event) => {
    seen += 1;
    if (seen === 2) {
      check(JSON.parse(event.data), { 'echoed': (m) => m.item === 7 });
      socket.close();
    }
  });
  socket.onerror = (e) => { throw new Error(e.error); };
}
