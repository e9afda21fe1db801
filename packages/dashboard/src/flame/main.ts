// The page of a flame graph.
const main = document.getElementById('flame');
if (main !== null) main.textContent = 'No profile was given to this page.';
