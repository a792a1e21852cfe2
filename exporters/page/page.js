// SPDX-License-Identifier: Apache-2.0
// Asks /api/v1 every two seconds while somebody looks, and shows the answers. What it asks is bounded by what is on the screen, not by what the
// host has: charts for a page of ports, queue pairs the more seldom the more there are. Every string of an answer may be a tenant's: it gets into
// the document as text (textContent, setAttribute of names given here), never as markup.
'use strict';
(() => {
const POLL_MS = 2000, PATIENCE_MS = 10000, RATE_SECONDS = 10, HISTORY_SECONDS = 300, RECENT_SECONDS = 60, STALE_SECONDS = 30;
const PORTS_AT_ONCE = 16, PORT_ORDER_MS = 30000, QPS_PER_REQUEST = 1000, MOST_QPS = 10000, QPS_PER_SECOND = 250, MOST_EVENTS = 1000, MOST_TROUBLES = 12;
const BROKEN = ['ERR', 'SQE'];
const STATES = ['RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'SQE', 'ERR'];
const RANK = {error: 0, warning: 1, info: 2};

const byId = (id) => document.getElementById(id);

// ---- words and numbers ----

const digits = (value) => value >= 100 ? 0 : value >= 10 ? 1 : 2;
function si(value, unit) {
  if (value === undefined || value === null) return '—';
  if (value === 0) return `0 ${unit}`;
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [0, 'µ']];
  const [step, prefix] = steps.find(([least]) => Math.abs(value) >= least);
  const scaled = value / (step || 1e-6);
  return `${Number(scaled.toFixed(digits(scaled)))} ${prefix}${unit}`;
}
const bits = (value) => si(value === undefined || value === null ? value : value * 8, 'b/s');
const perSecond = (value) => value >= 1e3 || !value ? si(value, '/s') : `${Number(value.toFixed(digits(value)))} /s`;
const pause = (value) => si(value, 's/s');
const whole = (text) => /^\d+$/.test(text) ? BigInt(text).toLocaleString('en') : String(text);
const count = (number, noun, plural = noun + 's') => `${whole(number)} ${number === 1 ? noun : plural}`;
function duration(seconds) {
  if (!(seconds >= 0)) return '—';
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const at = parts.findIndex(([size]) => seconds >= size);
  if (at < 0) return '0 s';
  const [[size, unit], next] = [parts[at], parts[at + 1]];
  const rest = next ? Math.floor(seconds % size / next[0]) : 0;
  return `${Math.floor(seconds / size)} ${unit}` + (rest && at < 3 ? ` ${rest} ${next[1]}` : '');
}
function clock(seconds) {
  const at = new Date(seconds * 1000), time = at.toLocaleTimeString('en-GB');
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString('sv')} ${time}`;
}
const portName = ({device, port}) => port === undefined ? device ?? '' : `${device}/${port}`;
const owner = ({tenant, workload}) => tenant === undefined ? '—' : workload && workload !== tenant ? `${tenant} / ${workload}` : tenant;
const process = ({comm, pid, kernel_module}) => kernel_module ? `[${kernel_module}]` : comm ? `${comm} ${pid ?? ''}` : pid === undefined ? '—' : String(pid);
const brokenOf = (states = {}) => BROKEN.reduce((sum, state) => sum + (states[state] ?? 0), 0);

// ---- the document ----

function element(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
function drawing(name, properties = {}) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(properties)) node.setAttribute(key, value);
  return node;
}
// Only what differs is touched: a selection survives, and a screen reader is not disturbed.
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function mark(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}
function fit(parent, wanted, make) {
  while (parent.children.length > wanted) parent.lastElementChild.remove();
  while (parent.children.length < wanted) parent.append(make());
  return parent.children;
}
function pairs(list, entries) {
  const nodes = fit(list, entries.length, () => element('div', {}, element('dt'), element('dd')));
  entries.forEach(([name, value], at) => {
    say(nodes[at].firstChild, name);
    say(nodes[at].lastChild, String(value));
  });
}

// Pages of a list: "1–50 of 812", and a way to the others where there are any.
class Pager {
  page = 0;
  constructor(place, what, size, redraw) {
    const step = (label, by) => {
      const button = element('button', {type: 'button', 'aria-label': `${label} ${what}`}, label);
      button.addEventListener('click', () => { this.page += by; redraw(); });
      return button;
    };
    Object.assign(this, {place, size, back: step('Previous', -1), text: element('span'), on: step('Next', 1)});
    place.append(this.back, this.text, this.on);
  }
  cut(rows) {
    this.page = Math.max(0, Math.min(this.page, Math.ceil(rows.length / this.size) - 1));
    const first = this.page * this.size, last = Math.min(rows.length, first + this.size);
    this.place.hidden = rows.length <= this.size;
    this.back.disabled = this.page === 0;
    this.on.disabled = last === rows.length;
    say(this.text, `${whole(first + 1)}–${whole(last)} of ${whole(rows.length)}`);
    return rows.slice(first, last);
  }
}

// A table of a section. cells(row): for each column a text, or {text, kind (class), title, press}.
class Table {
  constructor(section, what, size, cells) {
    Object.assign(this, {cells, rows: [], none: '', body: section.querySelector('tbody'), columns: section.querySelectorAll('th').length});
    this.kinds = [...section.querySelectorAll('th')].map((head) => head.className);
    this.pager = new Pager(section.querySelector('.pager'), what, size, () => this.draw());
  }
  show(rows, none) {
    Object.assign(this, {rows, none});
    this.draw();
  }
  draw() {
    const rows = this.pager.cut(this.rows);
    if (rows.length === 0) {
      this.body.replaceChildren(element('tr', {}, element('td', {class: 'empty', colspan: this.columns}, this.none)));
      return;
    }
    if (this.body.querySelector('.empty')) this.body.replaceChildren();
    const lines = fit(this.body, rows.length, () => element('tr'));
    rows.forEach((row, at) => {
      const cells = this.cells(row), places = fit(lines[at], cells.length, () => element('td'));
      cells.forEach((cell, column) => this.fill(places[column], typeof cell === 'object' ? cell : {text: cell}, this.kinds[column]));
    });
  }
  fill(place, {text, kind = '', title, press}, column) {
    mark(place, 'class', `${column} ${kind}`.trim());
    mark(place, 'title', title ?? '');
    if (!press) return say(place, String(text));
    if (place.firstElementChild?.localName !== 'button') place.replaceChildren(element('button', {type: 'button'}));
    say(place.firstElementChild, String(text));
    place.firstElementChild.onclick = press;
  }
}

// ---- what the daemon said ----

const state = {events: [], portsChanged: new Set(), ports: [], tenants: [], qps: [], eventsOf: new Map()};

async function get(path) {
  const answer = await fetch(`api/v1/${path}`, {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS)});
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  throw Object.assign(new Error(body.error?.message ?? `${path}: ${answer.status} ${answer.statusText}`), {status: answer.status});
}

// Everything of a list that comes by the page: the items under `name`.
async function getAll(path, name) {
  const out = [];
  let answer, cursor = '';
  do {
    answer = await get(path + (cursor && (path.includes('?') ? '&' : '?') + cursor));
    out.push(...answer.data[name] ?? []);
    cursor = answer.data.next && `cursor=${encodeURIComponent(answer.data.next)}`;
  } while (cursor);
  return {time: answer.time, data: {...answer.data, [name]: out}};
}

// Growth per second of totals, over RATE_SECONDS at least once that much is known.
class Rates {
  #known = new Map();
  update(time, all) {
    const before = this.#known;
    this.#known = new Map();
    for (const [id, totals] of all) {
      const was = before.get(id), sample = {time, totals};
      if (!was) this.#known.set(id, {base: sample, middle: sample, now: sample});
      else if (time - was.middle.time >= RATE_SECONDS) this.#known.set(id, {base: was.middle, middle: was.now, now: sample});
      else this.#known.set(id, {...was, now: sample});
    }
  }
  of(id, name) {
    const {base, now} = this.#known.get(id) ?? {};
    if (!base || now.time <= base.time || now.totals[name] === undefined || base.totals[name] === undefined) return undefined;
    const grown = Number(now.totals[name]) - Number(base.totals[name]);
    return grown < 0 ? undefined : grown / (now.time - base.time);
  }
}
let portRates = new Rates(), tenantRates = new Rates();

// Charts are asked for with the ports where those are few, else for the ports on the screen alone.
async function loadPorts() {
  const few = state.ports.length > 0 && state.ports.length <= PORTS_AT_ONCE;
  let answer = await getAll(few ? 'ports' : 'ports?history=no', 'ports');
  portRates.update(answer.time, answer.data.ports.map((port) => [portName(port), port.totals ?? {}]));
  state.ports = answer.data.ports;
  state.interval = answer.data.interval_seconds;
  if (few || state.ports.length === 0) return;
  const devices = new Set(portPager.cut(orderedPorts()).map((port) => `device=${encodeURIComponent(port.device)}`));
  answer = await getAll(`ports?${[...devices].join('&')}`, 'ports');
  const charts = new Map(answer.data.ports.map((port) => [portName(port), port.history]));
  for (const port of state.ports) port.history = charts.get(portName(port));
}

async function loadTenants() {
  const answer = await getAll('tenants', 'tenants');
  state.tenants = answer.data.tenants;
  for (const one of state.tenants) {
    one.totals = {};
    for (const {totals} of one.ports ?? []) {
      for (const [name, value] of Object.entries(totals ?? {})) {
        if (typeof value !== 'object') one.totals[name] = (one.totals[name] ?? 0) + Number(value);
      }
    }
  }
  tenantRates.update(answer.time, state.tenants.map((one) => [tenantId(one), one.totals]));
}
const tenantId = ({tenant, workload}) => `${tenant}\n${workload}`;

async function loadEvents() {
  const {data} = await get(`events?limit=${MOST_EVENTS}` + (state.cursor === undefined ? '' : `&after=${encodeURIComponent(state.cursor)}`));
  state.cursor = data.next;
  state.eventsDropped = data.dropped;
  if (data.events.length === 0) return;
  state.events = state.events.concat(data.events).slice(-MOST_EVENTS);
  state.portsChanged = new Set(state.events.filter((event) => event.kind === 'port_state').map(portName));
  state.eventsOf = new Map();
  for (const event of state.events) {
    if (event.qpn === undefined || event.severity === 'info') continue;
    const key = `${event.device} ${event.qpn}`;
    state.eventsOf.set(key, [...state.eventsOf.get(key) ?? [], event]);
  }
}
// A queue pair's own: its number may have been another's before.
const errorsOf = (qp) => (state.eventsOf.get(`${qp.device} ${qp.qpn}`) ?? []).filter((event) => event.timestamp_seconds >= (qp.created_timestamp_seconds ?? 0) - 1);

async function loadProbes() {
  state.probes = (await get('probes')).data;
}

// Not every daemon has findings.
async function loadFindings() {
  if (state.noFindings) return;
  try {
    state.findings = (await getAll('findings', 'findings')).data.findings;
  } catch (why) {
    if (why.status !== 404) throw why;
    state.noFindings = true;
  }
}

async function loadQueuePairs() {
  state.loading = true;
  byId('qps-load').disabled = true;
  try {
    const found = new Map();
    const ask = async (filter) => {
      let cursor = '';
      do {
        const {data, time} = await get(`qps?limit=${QPS_PER_REQUEST}${filter}${cursor}`);
        state.qpsTime = time;
        for (const qp of data.qps) found.set(`${qp.device} ${qp.serial}`, qp);
        state.qpsMore = data.next !== undefined;
        cursor = `&cursor=${encodeURIComponent(data.next)}`;
        if (found.size > state.qps.length) keepQueuePairs(found);
      } while (state.qpsMore && found.size < MOST_QPS);
    };
    if ((state.status.queue_pairs?.total ?? 0) > MOST_QPS) await ask(BROKEN.map((name) => `&state=${name}`).join(''));
    await ask('');
    keepQueuePairs(found);
    state.qpsFailure = undefined;
  } catch (why) {
    state.qpsFailure = `cannot be read: ${why.message}`;
  }
  state.loading = false;
  byId('qps-load').disabled = false;
  state.qpsDue = performance.now() + Math.max(POLL_MS, state.qps.length / QPS_PER_SECOND * 1000);
  showQueuePairs();
}
function keepQueuePairs(found) {
  state.qps = [...found.values()];
  for (const qp of state.qps) qp.words = Object.values(qp).join('\n').toLowerCase() + `\n${portName(qp)}`;
  showQueuePairs();
}

// ---- what is wrong ----

// Per second, over the last minute where there is a history, else since shortly before.
function recent(port, name) {
  const known = (port.history?.[name] ?? []).slice(-Math.round(RECENT_SECONDS / state.interval)).filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : portRates.of(portName(port), name);
}

// A port that is down is a trouble if somebody uses it or it was just up: many a second port has no cable.
const isUsed = (port) => port.queue_pairs > 0 || state.portsChanged.has(portName(port));

function portTroubles(port) {
  const out = [], name = portName(port), add = (severity, about, text) => out.push({severity, about, key: `${name} ${about}`, text: `${name} ${text}`, to: '#ports'});
  if (port.state !== undefined && port.state !== 'ACTIVE') add(isUsed(port) ? 'warning' : 'info', 'state', `is ${port.state}` + (port.physical_state ? ` (${port.physical_state})` : ''));
  const lost = recent(port, 'retransmits'), paused = recent(port, 'rx_pause_seconds'), cnp = recent(port, 'rx_cnp_packets');
  if (lost > 0) add('warning', 'retransmits', `retransmits: ${perSecond(lost)}`);
  if (paused > 0.01) add('warning', 'pause', `is kept from sending by pause frames: ${pause(paused)}`);
  if (cnp > 0) add('info', 'cnp', `is told to slow down: ${perSecond(cnp)} congestion notifications`);
  return out;
}

function brokenTroubles() {
  const {by_state: states = {}} = state.status.queue_pairs ?? {};
  return BROKEN.filter((name) => states[name] > 0).map((name) => {
    const whose = state.tenants.filter((one) => one.by_state?.[name] > 0).sort((a, b) => b.by_state[name] - a.by_state[name]);
    const names = whose.slice(0, 3).map((one) => `${whole(one.by_state[name])} of ${owner(one)}`).join(', ');
    const more = whose.length > 3 ? ` and ${whose.length - 3} more` : '';
    return {severity: 'error', key: name, text: `${count(states[name], 'queue pair')} in ${name}${names && `: ${names}${more}`}`, to: '#qps', press: () => choose(name, '')};
  });
}

function eventTroubles() {
  const kinds = new Map();
  const down = new Set(state.ports.filter((port) => port.state !== 'ACTIVE').map(portName));
  for (const event of state.events) {
    if (event.severity === 'info' || event.timestamp_seconds < state.time - HISTORY_SECONDS) continue;
    if (event.kind === 'port_state' && down.has(portName(event))) continue;  // said already
    const kind = kinds.get(event.kind) ?? {number: 0};
    kinds.set(event.kind, {number: kind.number + 1, last: event});
  }
  return [...kinds].map(([kind, {number, last}]) => ({severity: last.severity, key: kind, to: '#events',
    text: (number > 1 ? `${whole(number)} × ${kind.replaceAll('_', ' ')} in 5 minutes, the last: ` : '') + last.message}));
}

function troubles() {
  const out = [], status = state.status;
  const age = dataAge();
  if (!state.failure && age > STALE_SECONDS) out.push({severity: 'error', key: 'stale', text: `the data is ${duration(age)} old: the daemon answers, but does not look at the host`});
  if (status.ready === false) out.push({severity: 'warning', key: 'starting', text: 'the daemon is starting: not everything was looked at'});
  out.push(...brokenTroubles(), ...state.ports.flatMap(portTroubles), ...eventTroubles());
  for (const [name, why] of Object.entries(state.failed ?? {})) out.push({severity: 'warning', key: name + why, text: `${name}: ${why}`, to: `#${name}`});
  for (const {severity, device, what} of status.troubles ?? []) out.push({severity, key: what, text: device ? `${device}: ${what}` : what, to: '#probes'});
  for (const one of state.findings ?? []) out.push({severity: one.severity, key: one.message ?? one.what, text: one.message ?? one.what, to: '#findings'});
  return out.sort((a, b) => (RANK[a.severity] ?? 2) - (RANK[b.severity] ?? 2));
}

const dataAge = () => state.age === undefined ? undefined : state.age + (performance.now() - state.received) / 1000;

function showVerdict() {
  const refused = state.failure?.status === 403;
  byId('refused').hidden = !refused;
  byId('verdict').hidden = refused;
  byId('content').hidden = byId('nav').hidden = refused || !state.status;
  document.body.classList.toggle('gone', Boolean(state.failure));
  if (refused) {
    say(byId('refused-why'), `It says: ${state.failure.message}.`);
    say(byId('refused-forward'), `ssh -L 9879:localhost:${location.port || 80} ${location.hostname}`);
    return announce('refused', 'This daemon does not show you its data');
  }
  const list = state.status ? troubles() : [];
  if (state.failure) {
    const since = `since ${clock(state.failedAt / 1000)} (${duration((Date.now() - state.failedAt) / 1000)})`;
    const text = state.failure.status === 503 ? `the daemon is not ready ${since}: ${state.failure.message}`
      : state.failure.status ? `the daemon answers with an error ${since}: ${state.failure.message}` : `the daemon does not answer ${since}; trying again every 2 seconds`;
    list.unshift({severity: 'error', key: 'gone', text: text + (state.status ? '. What is shown is from before' : '')});
  }
  const number = (severity) => list.filter((one) => one.severity === severity).length;
  const [errors, warnings] = [number('error'), number('warning')];
  const worst = errors ? 'error' : warnings ? 'warning' : 'good';
  const title = [errors && count(errors, 'error'), warnings && count(warnings, 'warning')].filter(Boolean).join(', ') || 'All well';
  mark(byId('verdict'), 'data-worst', worst);
  say(byId('verdict-title'), title);
  const shown = list.slice(0, MOST_TROUBLES);
  const lines = fit(byId('troubles'), shown.length, () => element('li', {}, element('span'), element('span')));
  shown.forEach((one, at) => {
    const [severity, text] = lines[at].children;
    mark(severity, 'class', `severity ${one.severity}`);
    say(severity, one.severity);
    if (!one.to) return say(text, one.text);
    if (!text.firstElementChild) text.replaceChildren(element('a'));
    mark(text.firstElementChild, 'href', one.to);
    say(text.firstElementChild, one.text);
    text.firstElementChild.onclick = one.press ?? null;
  });
  say(byId('calm'), list.length > shown.length ? `and ${whole(list.length - shown.length)} more` : worst === 'good' && state.status ? calm() : '');
  document.title = `${errors ? '✕ ' : warnings ? '▲ ' : ''}${state.status?.host ?? 'qpscope'} · qpscope`;
  announce(list.map((one) => one.severity + one.key).join('\n'), title + (list.length ? `. ${list[0].text}` : ''));
}

// What is well, of what is known.
function calm() {
  const {queue_pairs: qps, tenants} = state.status, known = (name) => state.ports.some((port) => recent(port, name) !== undefined);
  const all = state.ports.length, active = state.ports.filter((port) => port.state === 'ACTIVE').length;
  const good = [all === 0 ? 'no RDMA port on this host' : active === all ? `${count(all, 'port')} ACTIVE` : `${whole(active)} of ${count(all, 'port')} ACTIVE`];
  if (qps) good.push(`${count(qps.total, 'queue pair')}` + (tenants ? ` of ${count(tenants, 'tenant')}` : '') + ', none broken');
  if (known('retransmits')) good.push('nothing retransmitted in the last minute');
  if (known('rx_pause_seconds')) good.push('nothing paused');
  return good.join(' · ');
}

// The one live region: it speaks when something else is wrong than before, not when a number moves.
function announce(key, text) {
  if (state.announced !== key) byId('live').textContent = text;
  state.announced = key;
}

// ---- header ----

function showHeader() {
  const {host, version, kernel, uptime_seconds: uptime} = state.status ?? {};
  say(byId('host'), host ?? 'qpscope');
  say(byId('facts'), [version && `qpscope ${version}`, kernel && `Linux ${kernel}`, uptime !== undefined && `up ${duration(uptime)}`].filter(Boolean).join(' · '));
  const age = dataAge();
  say(byId('age'), age === undefined ? '' : `data ${age < 10 ? age.toFixed(1) + ' s' : duration(age)} old`);
}

// ---- ports ----

const CHARTS = [
  {title: 'Bandwidth', show: bits, lines: [['rx_bytes', 'rx'], ['tx_bytes', 'tx']]},
  {title: 'Retransmissions', alarm: 'retransmits', show: perSecond, lines: [['retransmits', 'events']]},
  {title: 'Congestion', alarm: 'cnp', show: perSecond, lines: [['rx_cnp_packets', 'CNP'], ['rx_ecn_marked_packets', 'ECN marked']]},
  {title: 'Kept from sending', alarm: 'pause', show: pause, lines: [['rx_pause_seconds', 'paused']]},
];
const HEIGHT = 34;
const portRows = new Map();
const portPager = new Pager(byId('ports').appendChild(element('div', {class: 'pager'})), 'ports', PORTS_AT_ONCE, () => poll(true));
let pointed;  // how many samples ago the pointer is; undefined: nowhere

// Where there are more than a page, those in trouble come first, then the busy ones; the order holds for a while, so that one can read.
function orderedPorts() {
  if (state.ports.length <= PORTS_AT_ONCE) return state.ports;
  if (!state.portOrder || performance.now() > state.portOrderUntil) {
    const weight = (port) => portTroubles(port).length * 1e15 + (recent(port, 'rx_bytes') ?? 0) + (recent(port, 'tx_bytes') ?? 0);
    state.portOrder = new Map(state.ports.map((port) => [portName(port), weight(port)]));
    state.portOrderUntil = performance.now() + PORT_ORDER_MS;
  }
  return [...state.ports].sort((a, b) => (state.portOrder.get(portName(b)) ?? 0) - (state.portOrder.get(portName(a)) ?? 0));
}

class Chart {
  constructor({title, alarm, show, lines}) {
    Object.assign(this, {title, alarm, show, lines});
    this.now = element('p', {class: 'now'});
    this.peak = element('span');
    this.svg = drawing('svg', {role: 'img', preserveAspectRatio: 'none'});
    this.area = this.svg.appendChild(drawing('path', {class: 'area'}));
    this.paths = lines.map((_, at) => this.svg.appendChild(drawing('path', {class: `line${at}`})));
    this.cursor = this.svg.appendChild(drawing('line', {class: 'cursor', y1: 0, y2: HEIGHT}));
    this.node = element('figure', {class: 'chart'}, element('figcaption', {}, title, this.peak), this.now, this.svg);
    this.svg.addEventListener('pointermove', (event) => {
      const box = this.svg.getBoundingClientRect();
      pointed = Math.round((1 - (event.clientX - box.left) / box.width) * (this.points - 1));
      showPorts();
    });
    this.svg.addEventListener('pointerleave', () => { pointed = undefined; showPorts(); });
  }
  draw(port, history, alarms) {
    this.node.classList.toggle('alarm', alarms.has(this.alarm));
    this.points = Math.round(HISTORY_SECONDS / (state.interval || 2));
    const list = (name) => history[name] ?? [];  // what has a total, but was not sampled twice yet, is known and empty
    const known = this.lines.filter(([name]) => history[name] || port.totals?.[name] !== undefined), all = known.flatMap(([name]) => list(name)).filter((value) => value !== null);
    const peak = all.length ? all.reduce((most, value) => Math.max(most, value), 0) : undefined;
    mark(this.svg, 'viewBox', `0 0 ${this.points - 1} ${HEIGHT}`);
    this.paths.forEach((path, at) => mark(path, 'd', this.path(list(this.lines[at][0]), peak)));
    mark(this.area, 'd', this.path(list(this.lines[0][0]), peak, true));
    this.cursor.toggleAttribute('hidden', pointed === undefined);
    const x = this.points - 1 - (pointed ?? 0);
    mark(this.cursor, 'x1', String(x));
    mark(this.cursor, 'x2', String(x));
    say(this.peak, peak ? `peak ${this.show(peak)}` : '');
    const shown = fit(this.now, known.length || 1, () => element('span', {}, element('data'), ' ', element('small')));
    if (known.length === 0) {
      mark(shown[0], 'class', 'quiet');
      say(shown[0].firstChild, '—');
      say(shown[0].lastChild, 'not told by this port');
    }
    const told = known.map(([name, label], at) => {
      const value = this.at(list(name));
      mark(shown[at], 'class', `mark${this.lines.findIndex(([one]) => one === name)}`);
      mark(shown[at].firstChild, 'value', value === undefined ? '' : String(value));
      say(shown[at].firstChild, this.show(value));
      say(shown[at].lastChild, pointed ? `${label} ${duration(pointed * state.interval)} ago` : label);
      return `${label} ${this.show(this.at(list(name), 0))}`;
    });
    mark(this.svg, 'aria-label', `${this.title} of ${portName(port)}, last 5 minutes: ` + (told.length ? `now ${told.join(', ')}; at most ${this.show(peak)}` : 'not told by this port'));
  }
  // The value where the pointer is, else the newest of the last few.
  at(list, back = pointed) {
    if (back) return list[list.length - 1 - back] ?? undefined;
    return list.slice(-5).findLast((value) => value !== null);
  }
  path(list, peak, closed) {
    const y = (value) => (HEIGHT - 1 - (peak ? value / peak * (HEIGHT - 3) : 0)).toFixed(1);
    let out = '', begun;
    const end = (x) => { if (closed && begun !== undefined) out += `V${HEIGHT}H${begun}Z`; begun = undefined; return x; };
    list.forEach((value, at) => {
      const x = at + this.points - list.length;
      if (value === null) return end(x);
      out += begun === undefined ? closed ? `M${x} ${HEIGHT}V${y(value)}` : `M${x} ${y(value)}h0` : `L${x} ${y(value)}`;
      begun ??= x;
    });
    end(0);
    return out;
  }
}

class PortRow {
  constructor() {
    this.name = element('h3', {}, '', element('span', {class: 'severity'}));
    this.about = element('p', {class: 'about'});
    this.list = element('dl');
    this.totals = element('details', {}, element('summary', {}, 'Totals'), this.list);
    this.totals.addEventListener('toggle', () => this.showTotals());
    this.charts = CHARTS.map((chart) => new Chart(chart));
    this.node = element('li', {class: 'port'}, element('div', {class: 'who'}, this.name, this.about), ...this.charts.map((chart) => chart.node), this.totals);
  }
  draw(port) {
    this.port = port;
    const up = port.state === 'ACTIVE', badge = this.name.lastChild;
    if (this.name.firstChild.data !== portName(port)) this.name.firstChild.data = portName(port);
    mark(badge, 'class', `severity ${up ? 'good' : isUsed(port) ? 'warning' : 'info'}`);
    say(badge, (port.state ?? 'state not known') + (!up && port.physical_state ? ` (${port.physical_state})` : ''));
    const {rate_bytes_per_second: rate, mtu_bytes: mtu, queue_pairs: qps} = port;
    say(this.about, [port.netdev, port.link_layer, rate !== undefined && bits(rate), mtu !== undefined && `MTU ${mtu}`, port.function !== 'none' && port.function, port.driver, qps !== undefined && count(qps, 'queue pair')]
      .filter(Boolean).join(' · '));
    const alarms = new Set(portTroubles(port).map((one) => one.about));
    for (const chart of this.charts) chart.draw(port, port.history ?? {}, alarms);
    this.showTotals();
  }
  showTotals() {
    if (!this.totals.open) return;
    const flat = Object.entries(this.port.totals ?? {}).flatMap(([name, value]) => typeof value === 'object' ? Object.entries(value).map(([cause, one]) => [`retransmits: ${cause}`, one]) : [[name, value]]);
    pairs(this.list, flat.map(([name, value]) => [name.replaceAll('_', ' '), whole(value)]));
  }
}

function showPorts() {
  const shown = portPager.cut(orderedPorts());
  for (const name of portRows.keys()) {
    if (!shown.some((port) => portName(port) === name)) portRows.delete(name);
  }
  const rows = shown.map((port) => {
    if (!portRows.has(portName(port))) portRows.set(portName(port), new PortRow());
    portRows.get(portName(port)).draw(port);
    return portRows.get(portName(port)).node;
  });
  const list = byId('port-list');
  if (rows.length !== list.children.length || rows.some((row, at) => row !== list.children[at])) list.replaceChildren(...rows);
  list.hidden = rows.length === 0;
  const order = state.ports.length > PORTS_AT_ONCE ? ', those in trouble first, then the busy ones' : '';
  say(byId('ports-note'), state.failed?.ports ?? (rows.length ? `the last 5 minutes${order}` : 'no RDMA port on this host'));
}

// ---- tables ----

const severity = (name) => ({text: name, kind: `severity ${name}`});
const stateCell = (name) => BROKEN.includes(name) ? {text: name, kind: 'severity error'} : name ?? '—';

const tenantTable = new Table(byId('tenants'), 'tenants', 15, (one) => {
  const broken = brokenOf(one.by_state), rate = (name) => tenantRates.of(tenantId(one), name), total = (name) => one.totals[name] === undefined ? '—' : whole(one.totals[name]);
  const how = (one.ports ?? []).map((port) => `${portName(port)}: ${port.method}`).join(', ');
  return [{text: one.tenant, title: one.kind, press: () => choose('', one.tenant)}, {text: one.workload, title: one.workload, press: () => choose('', one.workload)}, whole(one.queue_pairs ?? 0),
    broken ? {text: whole(broken), kind: 'severity error'} : {text: '0', kind: 'quiet'},
    {text: bits(rate('rx_bytes')), title: how}, {text: bits(rate('tx_bytes')), title: how}, {text: total('retransmits'), title: how}, {text: total('rx_cnp_packets'), title: how}];
});
function showTenants() {
  const weight = (one) => brokenOf(one.by_state) * 1e15 + (one.queue_pairs ?? 0);
  tenantTable.show([...state.tenants].sort((a, b) => weight(b) - weight(a)), state.failed?.tenants ? 'Not known.' : 'No tenant has a queue pair.');
  say(byId('tenants').querySelector('.note'), state.failed?.tenants ?? (state.tenants.length ? 'their own counters, where there are any; — is not known' : ''));
}

const eventTable = new Table(byId('events'), 'events', 10, (event) => [
  {text: clock(event.timestamp_seconds), title: new Date(event.timestamp_seconds * 1000).toISOString()}, severity(event.severity),
  {text: event.message ?? event.kind, title: event.kind, kind: 'text'}, {text: owner(event), title: process(event)},
]);
function showEvents() {
  const all = byId('events-info').checked, follow = byId('events-follow').checked;
  const wanted = state.events.filter((event) => all || event.severity !== 'info').reverse();
  const fresh = follow ? 0 : wanted.findIndex((event) => event.id === state.shownEvents?.[0]?.id);
  if (follow || state.shownAll !== all) Object.assign(state, {shownEvents: wanted, shownAll: all});
  eventTable.show(state.shownEvents ?? [], state.failed?.events ? 'Not known.' : state.events.length ? 'Nothing but information.' : 'Nothing has happened since the daemon started.');
  const waiting = fresh < 0 ? wanted.length : fresh, dropped = Number(state.eventsDropped ?? 0);
  say(byId('events').querySelector('.note'), state.failed?.events ?? [waiting && `${whole(waiting)} new`, dropped && `${whole(dropped)} dropped: too many at once`].filter(Boolean).join(' · '));
}

const order = {
  state: (a, b) => STATES.indexOf(b.state) - STATES.indexOf(a.state) || b.state_change_timestamp_seconds - a.state_change_timestamp_seconds,
  errors: (a, b) => errorsOf(b).length - errorsOf(a).length,
  name: (a, b) => portName(a).localeCompare(portName(b), 'en', {numeric: true}) || a.qpn - b.qpn,
  tenant: (a, b) => owner(a).localeCompare(owner(b), 'en', {numeric: true}),
  changed: (a, b) => b.state_change_timestamp_seconds - a.state_change_timestamp_seconds,
  age: (a, b) => (b.created_timestamp_seconds ?? 0) - (a.created_timestamp_seconds ?? 0),
};
const sorting = {by: 'state', backwards: false};
const qpTable = new Table(byId('qps'), 'queue pairs', 50, (qp) => {
  const errors = errorsOf(qp).length, peer = qp.remote_gid ?? (qp.remote_lid === undefined ? '' : `lid ${qp.remote_lid}`);
  return [stateCell(qp.state), errors ? {text: whole(errors), kind: 'error'} : {text: '0', kind: 'quiet'},
    {text: `${portName(qp)} ${qp.qpn}`, press: () => showDetail(qp)}, qp.type ?? '—', {text: owner(qp), title: owner(qp)}, {text: process(qp), title: qp.cgroup},
    `${peer} ${qp.remote_qpn ?? ''}`.trim() || '—', duration(state.time - qp.state_change_timestamp_seconds), qp.created_timestamp_seconds === undefined ? '—' : duration(state.time - qp.created_timestamp_seconds)];
});
function showQueuePairs() {
  const words = byId('qps-search').value.toLowerCase().split(/\s+/).filter(Boolean), wanted = byId('qps-state').value;
  const rows = state.qps.filter((qp) => (!wanted || (wanted === 'broken' ? BROKEN.includes(qp.state) : qp.state === wanted)) && words.every((word) => qp.words.includes(word)));
  rows.sort((a, b) => (sorting.backwards ? -1 : 1) * order[sorting.by](a, b) || order.name(a, b));
  const filtered = wanted || words.length;
  qpTable.show(rows, filtered && state.qps.length ? 'None matches.' : state.loading ? 'Loading …' : state.qpsFailure ? 'Not known.' : 'No queue pair is known.');
  const total = state.status?.queue_pairs?.total ?? state.qps.length, age = state.qpsTime === undefined ? 0 : state.time - state.qpsTime;
  say(byId('qps').querySelector('.note'), state.qpsFailure ?? [filtered ? `${whole(rows.length)} of ${whole(state.qps.length)}` : whole(state.qps.length),
    state.qpsMore && `of ${whole(total)}, the broken ones first; qpscope qps has all`, state.loading && state.qpsMore ? 'loading' : age > 5 && `${duration(age)} old`].filter(Boolean).join(' · '));
}
function choose(wanted, words) {
  byId('qps-state').value = wanted;
  byId('qps-search').value = words;
  qpTable.pager.page = 0;
  showQueuePairs();
  byId('qps').scrollIntoView();
}

function showDetail(qp) {
  const detail = byId('detail');
  say(byId('detail-title'), `${portName(qp)} queue pair ${qp.qpn}`);
  const known = Object.entries(qp).filter(([name]) => name !== 'words');
  pairs(detail.querySelector('dl'), [...known.map(([name, value]) => [name.replaceAll('_', ' ').replace(' timestamp seconds', ''), name.endsWith('timestamp_seconds') ? clock(value) : value]),
    ...errorsOf(qp).map((event) => [`${clock(event.timestamp_seconds)} ${event.kind.replaceAll('_', ' ')}`, event.message ?? ''])]);
  detail.showModal();
}

const findingTable = new Table(byId('findings'), 'findings', 20, (one) => [severity(one.severity), portName(one), owner(one), {text: one.message ?? one.what, kind: 'text'}]);
function showFindings() {
  byId('findings').hidden = !state.findings;
  if (state.findings) findingTable.show(state.findings, 'Nothing found.');
}

const probeTable = new Table(byId('probes'), 'probes', 100, (probe) => [
  {text: probe.probe, kind: `severity ${probe.attached ? 'good' : 'warning'}`}, probe.feature ?? '', probe.how ?? '—', probe.runs === undefined ? '—' : whole(probe.runs),
  probe.run_seconds === undefined ? '—' : si(probe.run_seconds, 's'), probe.missed === undefined ? '—' : whole(probe.missed), {text: probe.reason ?? '', kind: 'text'}]);
const costRates = new Rates();
function showProbes() {
  const {bpf = {}, cost = {}} = state.status, {probes = [], events = {}} = state.probes ?? {};
  const attached = probes.filter((probe) => probe.attached).length, rate = (name) => costRates.of('cost', name);
  const sum = (entries) => whole(Object.values(entries).reduce((all, one) => all + Number(one), 0));
  const out = [['BPF', bpf.on ? `on, ${attached} of ${count(probes.length, 'probe')}` : `off${bpf.reason ? `: ${bpf.reason}` : ''}`]];
  if (events.received) out.push(['Kernel events received', sum(events.received)]);
  if (events.lost) out.push(['Kernel events lost', sum(events.lost)]);
  if (rate('cpu_seconds') !== undefined) out.push(['CPU of the daemon', `${(rate('cpu_seconds') * 100).toFixed(2)} % of one`]);
  if (rate('bpf_seconds') !== undefined) out.push(['CPU of the probes', `${(rate('bpf_seconds') * 100).toFixed(3)} % of one`]);
  if (cost.resident_bytes !== undefined) out.push(['Memory', si(cost.resident_bytes, 'B')]);
  if (cost.firmware_commands !== undefined) out.push(['Firmware commands', `${whole(cost.firmware_commands)}` + (rate('firmware_commands') === undefined ? '' : `, ${rate('firmware_commands').toFixed(1)} /s`)]);
  pairs(byId('cost'), out);
  say(byId('probes').querySelector('.note'), state.failed?.probes ?? '');
  probeTable.show(probes, state.failed?.probes ? 'Not known.' : 'No probe.');
}

// ---- the round ----

const SECTIONS = {ports: [loadPorts, showPorts], tenants: [loadTenants, showTenants], events: [loadEvents, showEvents], probes: [loadProbes, showProbes], findings: [loadFindings, showFindings]};

async function round() {
  const {data, time, age_seconds: age} = await get('status');
  if (state.status && data.uptime_seconds < state.status.uptime_seconds) {  // another daemon: its events are others
    Object.assign(state, {events: [], eventsOf: new Map(), portsChanged: new Set(), cursor: undefined, qpsDue: 0, noFindings: false, findings: undefined});
    [portRates, tenantRates] = [new Rates(), new Rates()];
  }
  Object.assign(state, {status: data, time, age, received: performance.now()});
  costRates.update(time, [['cost', data.cost ?? {}]]);
  const failed = {};
  await Promise.all(Object.entries(SECTIONS).map(async ([name, [load]]) => {
    try {
      await load();
    } catch (why) {
      if (!why.status) throw why;
      failed[name] = `cannot be read: ${why.message}`;
    }
  }));
  state.failed = failed;
  if (!state.loading && performance.now() >= (state.qpsDue ?? 0)) loadQueuePairs();
}

let timer, running = false, again = false;
async function poll(now) {
  clearTimeout(timer);
  if (running) again ||= now === true;
  if (running || document.hidden) return;
  running = true;
  try {
    await round();
    state.failure = undefined;
  } catch (why) {
    if (!state.failure) state.failedAt = Date.now();
    state.failure = why;
  }
  running = false;
  show();
  timer = setTimeout(poll, again ? 0 : POLL_MS);
  again = false;
}

function show() {
  showHeader();
  showVerdict();
  if (!state.status || state.failure) return;
  for (const [, draw] of Object.values(SECTIONS)) draw();
  showQueuePairs();
}

for (const name of [...STATES].reverse()) byId('qps-state').append(element('option', {value: name}, name));
for (const head of byId('qps').querySelectorAll('th[data-sort]')) {
  const by = head.dataset.sort, button = element('button', {type: 'button'}, head.textContent);
  head.replaceChildren(button);
  if (by === sorting.by) head.setAttribute('aria-sort', 'ascending');
  button.addEventListener('click', () => {
    Object.assign(sorting, {backwards: sorting.by === by && !sorting.backwards, by});
    for (const other of byId('qps').querySelectorAll('[aria-sort]')) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', sorting.backwards ? 'descending' : 'ascending');
    qpTable.pager.page = 0;
    showQueuePairs();
  });
}
for (const id of ['qps-search', 'qps-state']) byId(id).addEventListener('input', () => { qpTable.pager.page = 0; showQueuePairs(); });
byId('qps-load').addEventListener('click', loadQueuePairs);
for (const id of ['events-info', 'events-follow']) byId(id).addEventListener('input', showEvents);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, dialog')) return;
  event.preventDefault();
  byId('qps-search').focus();
});
document.addEventListener('visibilitychange', () => poll());
poll();
})();
