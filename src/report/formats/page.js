<script>
// Rows that lack a word of the filter are hidden; whatever a link leads to is opened and shown.
(function () {
  var box = document.getElementById('filter'), said = document.getElementById('found');
  var rows = Array.prototype.slice.call(document.querySelectorAll('[data-row]'));
  var texts = rows.map(function (row) { return row.textContent.toLowerCase(); });
  function filter() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), shown = 0;
    rows.forEach(function (row, index) {
      row.hidden = !words.every(function (word) { return texts[index].indexOf(word) >= 0; });
      if (!row.hidden) ++shown;
    });
    document.querySelectorAll('section[data-filtered]').forEach(function (section) {
      var left = section.querySelectorAll('[data-row]:not([hidden])').length;
      section.querySelector('.count').textContent = words.length ? left + ' of ' + section.dataset.filtered : section.dataset.filtered;
      if (words.length) section.querySelectorAll('details.all').forEach(function (all) { all.open = left > 0; });
    });
    said.textContent = words.length ? shown + ' of ' + rows.length + ' rows' : '';
  }
  function show() {
    var aim = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!aim) return;
    if (aim.hidden) { box.value = ''; filter(); }
    for (var up = aim; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
    aim.scrollIntoView();
  }
  box.addEventListener('input', filter);
  window.addEventListener('hashchange', show);
  if (box.value) filter();
  show();
})();
</script>
</body></html>
