'use strict';
(() => {
  const data = JSON.parse(document.getElementById('report-data').textContent);
  const all = (root, query) => [...root.querySelectorAll(query)];
  const span = s => {
    const t = Math.round(s), h = Math.floor(t / 3600), m = Math.floor(t % 3600 / 60), r = t % 60;
    if (s < 10 && s % 1) return (Math.round(s * 10) / 10) + 's';
    return h ? h + 'h' + (m ? m + 'm' : '') : m ? m + 'm' + (r ? r + 's' : '') : r + 's';
  };

  // Fold and filter.
  for (const section of all(document, '.pods, .objects')) {
    const tools = section.querySelector('.tools'), input = tools.querySelector('.filter'), hits = tools.querySelector('.hits');
    const fold = tools.querySelector('.fold'), folds = () => all(section, 'details');
    const label = () => { fold.textContent = folds().some(d => !d.open) ? fold.dataset.open : fold.dataset.close; };
    fold.addEventListener('click', () => {
      const open = folds().some(d => !d.open);
      for (const d of folds()) d.open = open;
      label();
    });
    section.addEventListener('toggle', label, true);
    const groups = all(section, '.node, .object').map(group => ({
      group, name: group.querySelector('summary, h3').textContent.toLowerCase(), text: group.textContent.toLowerCase(),
      rows: all(group, '.node tbody tr').map(row => ({row, text: row.textContent.toLowerCase()})),
    }));
    input.addEventListener('input', () => {
      const want = input.value.trim().toLowerCase();
      let found = 0;
      for (const g of groups) {
        const whole = (g.rows.length ? g.name : g.text).includes(want);
        let here = 0;
        for (const r of g.rows) {
          r.row.hidden = !(whole || r.text.includes(want));
          if (!r.row.hidden) here++;
        }
        g.group.hidden = !(g.rows.length ? here : whole);
        if (!g.group.hidden) found += g.rows.length ? here : 1;
        if (want && here) g.group.open = true;
      }
      hits.textContent = want ? found + ' found' : '';
    });
    label();
    tools.hidden = false;
  }

  // Step through the simulated time.
  const becomes = {create: 'd', inPlaceUpdate: 'd', applyImages: 'd', sidecarUpdate: 'd', containerWaiting: 'd', delete: 'd', gone: 'g', ready: 'n'};
  const player = (plan, of) => {
    const sim = of.simulation, box = plan.querySelector('.player'), input = box.querySelector('input'), now = box.querySelector('.now');
    const states = sim.states.rows, records = sim.records.rows, chart = plan.querySelector('.chart');
    const moments = [...new Set([0, ...states.map(s => s[0]), ...sim.steps.map(s => s.begin), sim.seconds])].sort((a, b) => a - b);
    const scale = chart.dataset.scale.split(' ').map(p => p.split(',').map(Number));
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
    for (const [name, value] of Object.entries({class: 'cursor', y1: 66, y2: 336})) line.setAttribute(name, value);
    chart.append(line);
    const legends = all(plan, '.maplegend'), squares = [], maps = new Map();
    for (const place of all(plan, '.node, .subset')) {
      const map = document.createElement('span');
      map.className = 'map';
      map.setAttribute('aria-hidden', 'true');
      place.querySelector('summary').append(map);
      maps.set(place.className + ' ' + place.querySelector('summary b').textContent, map);
    }
    const old = all(plan, '.node tbody tr').length;
    of.pods.forEach((pod, i) => {
      const places = ['node ' + (pod[1] || 'no node yet')];
      if (i < old) places.push('subset ' + (pod[2] || 'no subset')); // of a pod that the run creates it is not known
      squares.push(places.map(place => maps.get(place)).filter(map => map).map(map => {
        const square = document.createElement('i');
        square.title = pod[0];
        square.hidden = i >= old;
        map.append(square);
        return square;
      }));
    });
    const show = () => {
      const at = moments[input.value];
      const part = scale.find(p => at <= p[1]) || scale[scale.length - 1];
      const x = part[2] + (part[3] - part[2]) * Math.min((at - part[0]) / (part[1] - part[0] || 1), 1);
      line.setAttribute('x1', x);
      line.setAttribute('x2', x);
      const s = states.filter(s => s[0] <= at).pop() || [0, 0, 0, 0, 0, 0];
      const step = sim.steps.filter(s => s.begin <= at).pop();
      const down = s[3] + s[4], missing = Math.max(s[5] - s[1] - s[2] - down, 0);
      now.textContent = span(at) + ': ' + s[2] + ' new, ' + s[1] + ' old' + (down ? ', ' + down + ' unavailable' : '') +
        (missing ? ', ' + missing + ' missing' : '') + (step ? '; step ' + step.number + ', ' + step.name : '');
      input.setAttribute('aria-valuetext', now.textContent);
      const is = new Array(squares.length).fill('o');
      for (let i = old; i < is.length; i++) is[i] = '';
      for (const r of records) {
        if (r[0] > at) break;
        is[r[2]] = becomes[r[1]] || is[r[2]];
      }
      squares.forEach((list, i) => {
        for (const square of list) {
          square.hidden = !is[i] || i >= old && is[i] === 'g';
          square.className = is[i];
        }
      });
      for (const legend of legends) legend.querySelector('.at').textContent = span(at);
    };
    input.max = moments.length - 1;
    input.addEventListener('input', show);
    const move = by => { input.value = Number(input.value) + by; show(); };
    box.querySelector('.back').addEventListener('click', () => move(-1));
    box.querySelector('.next').addEventListener('click', () => move(1));
    box.hidden = false;
    for (const legend of legends) legend.hidden = !maps.size;
    show();
  };
  all(document, '.plan').forEach((plan, i) => {
    const of = (data.plans || [])[i];
    if (of && of.simulation && plan.querySelector('.player')) player(plan, of);
  });

  // What is linked to is open.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let e = target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  };
  window.addEventListener('hashchange', reveal);
  reveal();
})();
