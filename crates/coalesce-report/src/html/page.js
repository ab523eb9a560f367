'use strict';
// Everything that comes from the tree goes into the page as text nodes: nothing is ever parsed.
const data = JSON.parse(document.getElementById('data').textContent);
const body = document.getElementById('page');
// What would be obeyed, or shown in another order, is spelled out.
const obeyed = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const shown = text => String(text).replace(obeyed, c => '\\u{' + c.charCodeAt(0).toString(16) + '}');

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : shown(value));
  }
  add(made, children);
  return made;
}
function add(parent, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}
const code = text => el('code', null, text);
// Names stand between backticks in what we say ourselves.
const prose = text => String(text).split('\n').flatMap((line, at) => [at ? el('br') : null,
  ...line.split('`').map((part, turn) => turn % 2 ? code(part) : part)]);
const faint = (...text) => el('span', { class: 'faint' }, ...text);
const plural = (count, noun) => count + ' ' + noun + (count === 1 ? '' : noun.endsWith('s') ? 'es' : 's');
const place = (path, line) => code(line ? path + ':' + line : path);

// A list that is as long as somebody wants to read.
const STEP = 100;
function long(parent, items, make) {
  let at = 0;
  const more = el('button', { class: 'more', onclick: step });
  function step() {
    const end = Math.min(items.length, at + STEP);
    const part = document.createDocumentFragment();
    for (; at < end; at++) part.append(make(items[at], at));
    parent.append(part);
    more.remove();
    if (at < items.length) {
      more.textContent = (items.length - at) + ' more';
      parent.append(more);
    }
  }
  step();
  return parent;
}
// Filled when it is opened.
function card(summary, fill, open) {
  const made = el('details', { class: 'card', open }, el('summary', null, ...summary));
  let filled = false;
  const now = () => { if (made.open && !filled) { filled = true; fill(made); } };
  made.addEventListener('toggle', now);
  now();
  return made;
}
function table(heads, rows) {
  const made = el('tbody');
  long(made, rows, row => el('tr', null, row.map(cell => cell instanceof Node && cell.tagName === 'TD' ? cell : el('td', null, cell))));
  return el('div', { class: 'wide' }, el('table', null, el('thead', null, el('tr', null, heads.map(head => el('th', null, head)))), made));
}
function choice(label, options, changed) {
  const made = el('select', { 'aria-label': label, onchange: () => changed(made.value) }, el('option', { value: '' }, label));
  options.forEach(option => made.append(el('option', { value: option }, option)));
  return made;
}
const distinct = values => [...new Set(values)].filter(value => value).sort();
const words = query => query.toLowerCase().split(/\s+/).filter(word => word);
const has = (text, wanted) => wanted.every(word => text.includes(word));

// ---- modules --------------------------------------------------------------------------------
const modules = data.modules || [];
const byName = new Map(modules.map(module => [module.name, module]));
const imports = new Map();
modules.forEach(module => module.importers.forEach(name => {
  if (!imports.has(name)) imports.set(name, []);
  imports.get(name).push(module.name);
}));
const cycleOf = new Map();
(data.cycles || []).forEach(cycle => cycle.modules.forEach(name => { if (!cycleOf.has(name)) cycleOf.set(name, cycle); }));
const findingsOf = new Map();
(data.findings || []).forEach(finding => {
  if (!findingsOf.has(finding.path)) findingsOf.set(finding.path, []);
  findingsOf.get(finding.path).push(finding);
});
const searched = module => (module.searched ||= (module.name + ' ' + module.path + ' ' + module.defines.join(' ')).toLowerCase());

function folderTree(items, path) {
  const root = { name: '', folders: new Map(), items: [] };
  for (const item of items) {
    let at = root;
    const parts = path(item).split('/');
    for (const part of parts.slice(0, -1)) {
      if (!at.folders.has(part)) at.folders.set(part, { name: part, folders: new Map(), items: [] });
      at = at.folders.get(part);
    }
    at.items.push(item);
  }
  return count(root);
}
function count(folder) {
  // Several modules may stand in one file.
  const files = new Map();
  folder.items.forEach(item => files.set(item.path, Math.max(files.get(item.path) || 0, item.lines || 0)));
  folder.all = files.size; folder.lines = 0; folder.found = 0;
  files.forEach((lines, path) => { folder.lines += lines; folder.found += (findingsOf.get(path) || []).length; });
  for (const [key, inner] of [...folder.folders]) {
    count(inner);
    let name = inner.name, at = inner;
    while (at.folders.size === 1 && !at.items.length) { at = [...at.folders.values()][0]; name += '/' + at.name; }
    at.name = name;
    folder.folders.set(key, at);
    folder.all += at.all; folder.lines += at.lines; folder.found += at.found;
  }
  return folder;
}
function row(depth, label, fill, open) {
  const fold = el('span', { class: 'fold' }, open ? '▾' : '▸');
  const item = el('div', { role: 'treeitem', tabindex: -1, 'aria-level': depth, 'aria-expanded': String(!!open) }, fold, ...label);
  const group = el('div', { role: 'group' });
  group.hidden = !open;
  let filled = false;
  item.unfold = now => {
    if (now && !filled) { filled = true; fill(group); }
    group.hidden = !now;
    fold.textContent = now ? '▾' : '▸';
    item.setAttribute('aria-expanded', String(now));
  };
  item.addEventListener('click', () => { item.unfold(group.hidden); focusRow(item); });
  if (open) item.unfold(true);
  const both = document.createDocumentFragment();
  both.append(item, group);
  return both;
}
function focusRow(item) {
  const tree = item.closest('[role=tree]');
  tree.querySelectorAll('[role=treeitem][tabindex="0"]').forEach(other => { other.tabIndex = -1; });
  item.tabIndex = 0;
  item.focus();
}
function tree(fill) {
  const made = el('div', { role: 'tree', 'aria-label': 'modules' });
  fill(made);
  const first = made.querySelector('[role=treeitem]');
  if (first) first.tabIndex = 0;
  made.addEventListener('keydown', event => {
    const item = event.target;
    if (item.getAttribute('role') !== 'treeitem') return;
    const rows = [...made.querySelectorAll('[role=treeitem]')].filter(other => other.offsetParent !== null);
    const at = rows.indexOf(item);
    const open = item.getAttribute('aria-expanded') === 'true';
    const to = next => { if (next) focusRow(next); };
    switch (event.key) {
      case 'ArrowDown': case 'j': to(rows[at + 1]); break;
      case 'ArrowUp': case 'k': to(rows[at - 1]); break;
      case 'Home': to(rows[0]); break;
      case 'End': to(rows[rows.length - 1]); break;
      case 'ArrowRight': case 'l': if (open) to(rows[at + 1]); else item.unfold(true); break;
      case 'ArrowLeft': case 'h':
        if (open) item.unfold(false);
        else { const group = item.closest('[role=group]'); if (group) to(group.previousElementSibling); }
        break;
      case 'Enter': case ' ': item.unfold(!open); break;
      default: return;
    }
    event.preventDefault();
  });
  return made;
}
// A small tree is open from the beginning.
const SMALL = 40;
function folderRows(parent, folder, depth, leaf, open = folder.all <= SMALL) {
  const inner = [...folder.folders.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  long(parent, [...inner, ...folder.items], one => one.folders
    ? row(depth, [code(one.name + '/'), faint(plural(one.all, 'file'), one.lines ? ', ' + plural(one.lines, 'line') : ''),
        one.found ? el('span', { class: 'warn' }, plural(one.found, 'finding')) : null],
      group => folderRows(group, one, depth + 1, leaf, open), open)
    : leaf(one, depth));
}
function moduleRow(module, depth) {
  const cycle = cycleOf.get(module.name);
  const found = (findingsOf.get(module.path) || []).length;
  return row(depth, [
    code(module.name),
    faint(plural(module.lines, 'line') + ', ' + (module.importers.length ? plural(module.importers.length, 'importer') : 'no importer')),
    module.kind === 'module' ? null : el('span', { class: 'tag' }, module.kind),
    cycle ? el('span', { class: 'tag ' + (cycle.eager ? 'bad' : 'warn') }, cycle.eager ? 'cycle' : 'deferred cycle') : null,
    found ? el('span', { class: 'warn' }, plural(found, 'finding')) : null,
  ], group => moduleDetails(group, module));
}
function moduleDetails(parent, module) {
  add(parent, [el('p', null, place(module.path))]);
  const names = (title, list) => {
    if (!list.length) return;
    const made = el('ul');
    long(made, list, name => el('li', null, byName.has(name) ? el('button', { class: 'link', onclick: () => show('modules', name) }, code(name)) : code(name)));
    add(parent, [el('p', null, title), made]);
  };
  (findingsOf.get(module.path) || []).forEach(finding => add(parent, [findingLine(finding)]));
  names('Imported by', module.importers);
  names('Imports', (imports.get(module.name) || []).slice().sort());
  const cycle = cycleOf.get(module.name);
  if (cycle) {
    add(parent, [el('p', null, 'A shortest cycle through these ' + plural(cycle.modules.length, 'module')),
      el('ul', null, cycle.shortest.map(step => el('li', null, code(step.from), ' imports ', code(step.to), ' ', faint(place(step.path, step.line)), step.eager ? null : faint(' when it is called'))))]);
  }
  if (module.defines.length) {
    add(parent, [el('p', null, 'Defines'), el('p', null, code(module.defines.slice(0, 200).join(', ')),
      module.defines.length > 200 ? faint(' and ' + (module.defines.length - 200) + ' more') : null)]);
  }
}
function modulesSection(parent, query) {
  const wanted = words(query);
  const filters = state.modules ||= { language: '', kind: '', which: '' };
  const again = (key, value) => { filters[key] = value; render(); };
  const select = (key, label, options) => {
    const made = choice(label, options, value => again(key, value));
    made.value = filters[key];
    return made;
  };
  const which = { 'in a cycle': module => cycleOf.has(module.name), 'without importers': module => !module.importers.length,
    'with findings': module => findingsOf.has(module.path) };
  const fits = module => (!filters.language || module.language === filters.language)
    && (!filters.kind || module.kind === filters.kind) && (!filters.which || which[filters.which](module))
    && has(searched(module), wanted);
  const left = modules.filter(fits);
  add(parent, [el('div', { class: 'filters' },
    select('language', 'any language', distinct(modules.map(module => module.language))),
    select('kind', 'any kind', distinct(modules.map(module => module.kind))),
    select('which', 'all modules', Object.keys(which)), faint(left.length + ' of ' + plural(modules.length, 'module')))]);
  const flat = wanted.length || Object.values(filters).some(value => value);
  parent.append(tree(made => flat ? long(made, left, module => moduleRow(module, 1)) : folderRows(made, folderTree(left, module => module.path), 1, moduleRow)));
}

// ---- findings -------------------------------------------------------------------------------
const severities = { error: 'bad', warning: 'warn', note: 'faint' };
function findingLine(finding) {
  return el('p', null, el('span', { class: severities[finding.severity] }, finding.severity), ' ',
    place(finding.path, finding.range && finding.range.line), ' ', prose(finding.message), finding.help ? faint(' — ', prose(finding.help)) : null);
}
function findingsSection(parent, query) {
  const wanted = words(query);
  const filters = state.findings ||= { severity: '', code: '' };
  const all = data.findings || [];
  const select = (key, label, options) => {
    const made = choice(label, options, value => { filters[key] = value; render(); });
    made.value = filters[key];
    return made;
  };
  const left = all.filter(finding => (!filters.severity || finding.severity === filters.severity)
    && (!filters.code || finding.code === filters.code)
    && has((finding.path + ' ' + finding.message + ' ' + finding.code).toLowerCase(), wanted));
  add(parent, [el('div', { class: 'filters' }, select('severity', 'any severity', distinct(all.map(finding => finding.severity))),
    select('code', 'any kind', distinct(all.map(finding => finding.code))), faint(left.length + ' of ' + plural(all.length, 'finding')))]);
  if (!left.length) { add(parent, [el('p', null, all.length ? 'None of them fits.' : 'Nothing was found.')]); return; }
  for (const kind of distinct(left.map(finding => finding.code))) {
    const own = left.filter(finding => finding.code === kind);
    const about = (data.explanations || {})[kind];
    parent.append(card([code(kind), ' ', faint(plural(own.length, 'finding'))], made => {
      if (about) add(made, [el('p', null, prose(about.what)), el('p', { class: 'faint' }, prose(about.instead))]);
      long(made, own, findingLine);
    }, own.length <= 20 || wanted.length > 0));
  }
}

// ---- duplicates -----------------------------------------------------------------------------
const byId = new Map((data.duplicates || []).map(entry => [entry.id, entry]));
// The chapters of the page in a terminal; what stands inside of a larger class is told with it.
const chapters = (data.chapters || []).map(chapter => ({ ...chapter, entries: chapter.ids.map(id => byId.get(id)) }));
const outer = chapters.flatMap(chapter => chapter.entries);
const insideOf = new Map();
(data.duplicates || []).forEach(entry => {
  if (!entry.inside) return;
  if (!insideOf.has(entry.inside)) insideOf.set(entry.inside, []);
  insideOf.get(entry.inside).push(entry);
});
const duplicates = (data.duplicates || []).filter(entry => entry.new !== false);
const copies = entry => entry.members.map(member => member.item || member.path);
function duplicateCard(entry) {
  const sure = entry.likelihood === null ? '' : ', likelihood ' + Math.floor(entry.likelihood * 100) + ' %';
  return card([el('strong', null, plural(entry.removable_lines, 'line')), ' ', entry.kind, ' ', entry.title ? entry.title : code(copies(entry)[0]), ' ',
    faint(plural(entry.members.length, 'place') + ', ' + Math.floor(entry.similarity * 100) + ' % alike' + sure), el('br'),
    faint(distinct(entry.members.map(member => member.path)).slice(0, 3).join(' · '))], made => {
    const list = el('ul');
    long(list, entry.members, member => el('li', null, place(member.path, member.lines[0] + '–' + member.lines[1]), ' ', member.item ? code(member.item) : null));
    add(made, [list]);
    if (entry.differences.length) add(made, [el('p', null, 'What each does alone'), aligned(entry)]);
    const inside = insideOf.get(entry.id) || [];
    if (inside.length) add(made, [el('p', null, 'Inside it'), inside.map(duplicateCard)]);
  });
}
// One row for what stands in the same turn of the same aspect; one column a member.
function aligned(entry) {
  const who = [...new Set(entry.differences.map(difference => difference.member))].sort((a, b) => a - b);
  const shownMembers = who.slice(0, 6);
  const rows = [];
  for (const aspect of distinct(entry.differences.map(difference => difference.aspect))) {
    const columns = shownMembers.map(member => entry.differences.filter(one => one.member === member && one.aspect === aspect));
    const height = Math.max(...columns.map(column => column.length));
    for (let at = 0; at < height; at++) {
      rows.push([at ? '' : aspect, ...columns.map((column, place) => el('td', { class: column[at] ? (place % 2 ? 'right' : 'left') : 'faint' },
        column[at] ? [faint(column[at].line + ' '), code(column[at].text)] : '–'))]);
    }
  }
  const heads = shownMembers.map(member => { const one = entry.members[member]; return one ? [code(one.path), one.item ? [el('br'), code(one.item)] : null] : '?'; });
  const made = table(['', ...heads], rows);
  if (who.length > shownMembers.length) made.append(el('p', { class: 'faint' }, 'and ' + plural(who.length - shownMembers.length, 'more member')));
  return made;
}
function duplicatesSection(parent, query) {
  const wanted = words(query);
  const filters = state.duplicates ||= { kind: '' };
  const kinds = choice('any kind', distinct(duplicates.map(entry => entry.kind)), value => { filters.kind = value; render(); });
  kinds.value = filters.kind;
  const text = entry => (entry.searched ||= (entry.id + ' ' + (entry.title || '') + ' ' + entry.members.map(member => member.path + ' ' + member.item).join(' ')).toLowerCase());
  const left = duplicates.filter(entry => (!filters.kind || entry.kind === filters.kind) && has(text(entry), wanted));
  const narrowed = wanted.length || filters.kind;
  const number = narrowed ? left.length + ' of ' + plural(duplicates.length, 'class') + ', those inside of others too'
    : plural(outer.length, 'class');
  add(parent, [el('div', { class: 'filters' }, kinds, faint(number))]);
  if (narrowed) { long(parent, left, duplicateCard); return; }
  chapters.forEach(chapter => {
    add(parent, [el('h2', null, chapter.heading + ': ' + chapter.entries.length), el('p', { class: 'faint' }, chapter.why)]);
    long(parent, chapter.entries, duplicateCard);
  });
}

// ---- roles ----------------------------------------------------------------------------------
function rolesSection(parent, query) {
  const wanted = words(query);
  const all = data.roles || [];
  const columns = distinct(all.flatMap(entry => entry.roles.map(role => role.role)));
  const left = all.filter(entry => has((entry.module + ' ' + entry.path + ' ' + entry.packages.join(' ')).toLowerCase(), wanted));
  add(parent, [el('p', { class: 'faint' }, 'Calls of GPU libraries by file, and what for.'),
    table(['module', 'libraries', ...columns], left.map(entry => {
      const counts = new Map(entry.roles.map(role => [role.role, role]));
      return [el('td', { class: 'name' }, code(entry.module), el('br'), faint(entry.path)), entry.packages.join(', '), ...columns.map(column => {
        const role = counts.get(column);
        return el('td', { class: 'count', title: role ? 'first at line ' + role.line : null }, role ? role.count : '');
      })];
    }))]);
}

// ---- what to do first -----------------------------------------------------------------------
function firstSection(parent) {
  const findings = (data.findings || []).filter(finding => finding.code !== 'duplicates');
  const order = { error: 0, warning: 1, note: 2 };
  const kinds = distinct(findings.map(finding => finding.code)).map(kind => findings.filter(finding => finding.code === kind));
  kinds.sort((a, b) => order[a[0].severity] - order[b[0].severity] || b.length - a.length);
  kinds.forEach(own => {
    const about = (data.explanations || {})[own[0].code];
    parent.append(el('div', { class: 'card' },
      el('button', { class: 'link', onclick: () => show('findings', own[0].code) }, el('strong', null, own.length + ' '), own[0].code),
      about ? el('p', { class: 'faint' }, prose(about.what)) : null,
      own.slice(0, 3).map(findingLine),
      own.length > 3 ? faint('and ' + (own.length - 3) + ' more') : null));
  });
  chapters.filter(chapter => chapter.act).forEach(chapter => {
    add(parent, [el('h2', null, chapter.heading + ': ' + chapter.entries.length), el('p', { class: 'faint' }, chapter.why)]);
    chapter.entries.slice(0, 10).forEach(entry => parent.append(duplicateCard(entry)));
    if (chapter.entries.length > 10) add(parent, [el('button', { class: 'more', onclick: () => show('duplicates') }, (chapter.entries.length - 10) + ' more')]);
  });
  const apart = chapters.filter(chapter => !chapter.act);
  if (apart.length) add(parent, [el('p', null, 'Listed apart: ', el('button', { class: 'link', onclick: () => show('duplicates') },
    apart.map(chapter => chapter.heading + ' (' + chapter.entries.length + ')').join(', ')))]);
  if (!kinds.length && !outer.length) add(parent, [el('p', null, 'Nothing was found.')]);
  const skipped = (data.files || {}).skipped || [];
  if (skipped.length) parent.append(card([plural(skipped.length, 'file') + ' not read'], made => long(made, skipped, file => el('p', null, place(file.path), ' ', faint(file.reason)))));
}

// ---- plan -----------------------------------------------------------------------------------
const operations = data.operations || [];
function planSection(parent) {
  const answer = data.answer || {};
  add(parent, [el('p', null, el('strong', { class: answer.grade ? '' : 'bad' }, answer.grade || 'refused'), ' ', prose(answer.message || ''))]);
  const cycles = (title, count) => title + ': ' + plural(count.eager, 'cycle') + ' of imports, ' + count.lazy + ' deferred';
  if (data.cycles_before) add(parent, [el('p', { class: 'faint' }, cycles('before', data.cycles_before), '; ', cycles('after', data.cycles_after))]);
  (data.findings || []).forEach(finding => add(parent, [findingLine(finding)]));
  const left = [
    ['Not proven', data.unproven, one => [place(one.path, one.range && one.range.line), ' ', code(one.name), ' ', prose(one.why)]],
    ['References that stay as they are', data.not_rewritten, one => [place(one.path, one.range && one.range.line), ' ', code(one.name), ' ', prose(one.why)]],
    ['Public names that nobody can write any more', data.lost_names, one => [code(one.name), one.instead ? [' now ', code(one.instead)] : null]],
  ];
  left.forEach(([title, list, line]) => {
    if (list && list.length) parent.append(card([title, ' ', faint(list.length)], made => long(made, list, one => el('p', null, ...line(one))), list.length <= 20));
  });
  const side = (title, files) => el('div', null, el('h3', null, title),
    tree(made => folderRows(made, folderTree(files, file => file.path), 1, (file, depth) => row(depth,
      [el('code', { class: file.gone ? 'gone' : '' }, file.path.split('/').pop()), el('span', { class: 'tag' }, file.what), file.other ? faint(file.other) : null],
      group => add(group, [file.reason ? el('p', null, prose(file.reason)) : null, place(file.path)])))));
  const before = [], after = [];
  operations.forEach(one => {
    const { operation, path, to, reason } = one;
    if (operation !== 'create') before.push({ path, what: operation, gone: operation !== 'edit', other: to ? 'to ' + to : '', reason });
    if (operation !== 'delete') after.push({ path: to || path, what: operation, other: to ? 'from ' + path : '', reason });
  });
  if (operations.length) add(parent, [el('h2', null, plural(operations.length, 'file') + ' before and after'), el('div', { class: 'two' }, side('Before', before), side('After', after))]);
}
function rewritesSection(parent, query) {
  const wanted = words(query);
  const all = (data.rewrites || []).filter(one => has((one.path + ' ' + one.from + ' ' + one.to).toLowerCase(), wanted));
  parent.append(table(['place', 'from', 'to', 'why'], all.map(one => [place(one.path, one.range && one.range.line), code(one.from), code(one.to), el('td', null, prose(one.reason))])));
}
function diffSection(parent, query) {
  const wanted = words(query);
  const files = [];
  (data.diff || '').split('\n').forEach(line => {
    if (line.startsWith('--- ')) files.push({ name: line.slice(4), lines: [] });
    if (files.length) { const file = files[files.length - 1]; if (line.startsWith('+++ ') && file.lines.length === 1 && file.name === '/dev/null') file.name = line.slice(4); file.lines.push(line); }
  });
  const left = files.filter(file => has(file.name.toLowerCase(), wanted));
  long(parent, left, file => card([code(file.name)], made => {
    const rows = el('tbody');
    long(rows, file.lines, line => el('tr', null, el('td', { class: line.startsWith('+') ? 'right' : line.startsWith('-') ? 'left' : '' }, line.replace(/\t/g, '    '))));
    made.append(el('table', { class: 'code' }, rows));
  }, left.length <= 5));
}

// ---- the frame ------------------------------------------------------------------------------
const all = {
  audit: [['first', 'First', firstSection], ['modules', 'Modules', modulesSection, modules.length], ['duplicates', 'Duplicates', duplicatesSection, outer.length],
    ['roles', 'Roles', rolesSection, (data.roles || []).length], ['findings', 'Findings', findingsSection, (data.findings || []).length]],
  check: [['findings', 'Findings', findingsSection, (data.findings || []).length]],
  plan: [['plan', 'Plan', planSection], ['rewrites', 'References', rewritesSection, (data.rewrites || []).length], ['diff', 'Diff', diffSection]],
};
const sections = all[data.command] || all.check;
const state = {};
const queries = {};
let current = sections[0][0];
const search = el('input', { type: 'search', placeholder: 'search (press /)', 'aria-label': 'search' });
const tabs = el('nav', { role: 'tablist' });
const main = el('main');
function render() {
  const section = sections.find(one => one[0] === current) || sections[0];
  tabs.replaceChildren(...sections.map(([id, title, , count], at) => el('button', { role: 'tab', 'aria-selected': String(id === section[0]), title: 'key ' + (at + 1), onclick: () => show(id) },
    title + (count === undefined ? '' : ' ' + count))));
  main.replaceChildren();
  section[2](main, queries[section[0]] || '');
}
function show(id, query) {
  current = id;
  if (query !== undefined) {
    queries[id] = query;
    // What is asked for must not be hidden by a filter that was set before.
    if (query) delete state[id];
  }
  search.value = queries[id] || '';
  render();
  window.scrollTo(0, 0);
}
let waiting;
search.addEventListener('input', () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => { queries[current] = search.value; render(); }, 80);
});
document.addEventListener('keydown', event => {
  const typing = ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName);
  if (event.key === 'Escape' && typing) { search.value = ''; queries[current] = ''; render(); event.target.blur(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') { search.focus(); search.select(); event.preventDefault(); return; }
  // Nothing is focused when a section was just chosen: the tree begins at its first row.
  if ((event.key === 'ArrowDown' || event.key === 'j') && !event.target.closest('[role=tree]')) {
    const first = main.querySelector('[role=treeitem][tabindex="0"]');
    if (first) { focusRow(first); event.preventDefault(); return; }
  }
  const number = Number(event.key);
  if (number >= 1 && number <= sections.length) show(sections[number - 1][0]);
});
function shade() {
  const root = document.documentElement;
  const dark = root.classList.contains('dark') || (!root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches);
  root.classList.toggle('dark', !dark);
  root.classList.toggle('light', dark);
}
const lines = modules.length ? ': ' + plural(modules.length, 'module') : '';
add(body, [el('h1', null, 'coalesce ' + data.command, lines), data.root === '.' ? '' : el('p', { class: 'faint' }, 'root ', code(data.root)),
  el('header', { class: 'bar' }, tabs, search, el('button', { onclick: shade, title: 'light or dark' }, '◐')), main,
  el('p', { class: 'faint' }, 'Keys: / searches, ' + (sections.length > 1 ? '1–' + sections.length + ' choose a section, ' : '') + 'arrows or h j k l walk through trees, Escape clears.')]);
const asked = decodeURIComponent(location.hash.slice(1)).split('/');
show(sections.some(one => one[0] === asked[0]) ? asked[0] : current, asked.slice(1).join('/') || undefined);
