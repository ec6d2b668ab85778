"""An XCSP3 instance with variables that nothing names, for the tests of the command and the competitions' checker."""

# Named are a, b, y[0], z[1], and, with an objective, d.
UNNAMED = """<instance format="XCSP3" type="{}"><variables><var id="a"> 1..3 </var><var id="b"> 1..4 </var>
<var id="c" type="symbolic"> red blue </var><array id="y" size="[3]"> 0..1 </array>
<array id="z" size="[2]"> 5..9 </array><var id="d"> 7..9 </var></variables><constraints><intension> ne(a,b) </intension>
<sum><list> z[1..1] </list><condition> (gt,0) </condition></sum>
<group><intension> le(%0,%1) </intension><args> 0 y[0] </args></group></constraints>
{}</instance>"""
GOALS = {"CSP": "", "COP": "<objectives><minimize> d </minimize></objectives>"}  # by the type of the instance
