// SPDX-License-Identifier: Apache-2.0
//
// ioredis against the server: defaults, its own pipelines, transactions, WATCH, streams of SCAN, binary data.
// Run by node_test.py as `node --test ioredis_test.js` with NIDUS_PORT set.

const assert = require('node:assert/strict');
const { after, beforeEach, test } = require('node:test');
const Redis = require('ioredis');

const port = Number(process.env.NIDUS_PORT);
const connections = [];
function connect(options = {}) {
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 2, ...options });
  connections.push(client);
  return client;
}
const client = connect({ connectionName: 'conformance' });

beforeEach(() => client.flushall());
after(() => connections.forEach((one) => one.disconnect()));

test('strings with the defaults', async () => {
  assert.equal(await client.set('k', 'v', 'EX', 100), 'OK');
  assert.equal(await client.get('k'), 'v');
  assert.equal(await client.get('missing'), null);
  assert.equal(await client.set('k', 'w', 'NX'), null);
  assert.equal(await client.ttl('k'), 100);
  assert.equal(await client.incrby('n', 5), 5);
  assert.deepEqual(await client.mset({ a: '1', b: '2' }), 'OK');
  assert.deepEqual(await client.mget('a', 'nil', 'b'), ['1', null, '2']);
  assert.equal(await client.client('GETNAME'), 'conformance');
});

test('errors are ReplyErrors', async () => {
  await client.set('text', 'abc');
  await assert.rejects(client.incr('text'), { name: 'ReplyError', message: 'ERR value is not an integer or out of range' });
  await assert.rejects(client.call('NOSUCH', 'a'), /unknown command/);
});

test('a pipeline of 10000 and one with an error in it', async () => {
  const pipeline = client.pipeline();
  for (let i = 0; i < 5000; ++i) pipeline.set(`p${i}`, i).get(`p${i}`);
  const out = await pipeline.exec();
  assert.equal(out.length, 10000);
  out.forEach(([error, value], i) => {
    assert.equal(error, null);
    assert.equal(value, i % 2 ? String((i - 1) / 2) : 'OK');
  });
  const mixed = await client.pipeline().set('t', 'abc').incr('t').get('t').exec();
  assert.equal(mixed[1][0].message, 'ERR value is not an integer or out of range');
  assert.equal(mixed[2][1], 'abc');
});

test('transactions and WATCH', async () => {
  assert.deepEqual(await client.multi().set('n', 1).incr('n').get('n').exec(), [[null, 'OK'], [null, 2], [null, '2']]);
  const other = connect();
  await client.watch('n');
  await other.set('n', 9);
  assert.equal(await client.multi().incr('n').exec(), null);
  assert.equal(await client.get('n'), '9');
  await assert.rejects(client.multi().set('x').exec(), /EXECABORT|wrong number/);
});

test('automatic pipelining', async () => {
  const auto = connect({ enableAutoPipelining: true });
  const out = await Promise.all(Array.from({ length: 1000 }, () => auto.incr('auto')));
  assert.deepEqual(out.sort((a, b) => a - b), Array.from({ length: 1000 }, (_, i) => i + 1));
});

test('a stream of SCAN sees every key', async () => {
  const pipeline = client.pipeline();
  for (let i = 0; i < 1000; ++i) pipeline.set(`scan:${i}`, i);
  await pipeline.exec();
  const seen = new Set();
  for await (const keys of client.scanStream({ match: 'scan:*', count: 50 })) keys.forEach((key) => seen.add(key));
  assert.equal(seen.size, 1000);
});

test('binary keys and values', async () => {
  const value = Buffer.alloc(300000, Buffer.from(Array.from({ length: 256 }, (_, i) => i)));
  for (const key of [Buffer.from([0, 13, 10, 255]), Buffer.alloc(0)]) {
    await client.set(key, value);
    assert.deepEqual(await client.getBuffer(key), value);
  }
});

test('another database, a key prefix, INFO', async () => {
  const fourth = connect({ db: 4, keyPrefix: 'pre:' });
  await fourth.set('k', 'four');
  assert.equal(await client.get('pre:k'), null);
  await client.select(4);
  assert.equal(await client.get('pre:k'), 'four');
  await client.select(0);
  assert.match(await client.info(), /\r\nloading:0\r\n/);
});
