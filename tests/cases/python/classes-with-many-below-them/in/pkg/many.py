from pkg.plugins import Plugin


class Plugin0(Plugin):
    pass


class Plugin1(Plugin):
    pass


class Plugin2(Plugin):
    pass


class Plugin3(Plugin):
    pass


class Plugin4(Plugin):
    pass


class Plugin5(Plugin):
    pass


class Plugin6(Plugin):
    pass


class Plugin7(Plugin):
    pass


class Plugin8(Plugin):
    pass


class Plugin9(Plugin):
    pass


class Plugin10(Plugin):
    pass


class Plugin11(Plugin):
    pass


class Plugin12(Plugin):
    pass


class Plugin13(Plugin):
    pass


class Plugin14(Plugin):
    pass


class Plugin15(Plugin):
    pass


class Plugin16(Plugin):
    pass


class Plugin17(Plugin):
    pass


class Plugin18(Plugin):
    pass


class Plugin19(Plugin):
    pass


class Plugin20(Plugin):
    pass


class Plugin21(Plugin):
    pass


class Plugin22(Plugin):
    pass


class Plugin23(Plugin):
    pass


class Plugin24(Plugin):
    pass


class Plugin25(Plugin):
    pass


class Plugin26(Plugin):
    pass


class Plugin27(Plugin):
    pass


class Plugin28(Plugin):
    pass


class Plugin29(Plugin):
    pass


class Plugin30(Plugin):
    pass


class Plugin31(Plugin):
    pass


class Plugin32(Plugin):
    pass


class Plugin33(Plugin):
    pass


class Plugin34(Plugin):
    pass


class Plugin35(Plugin):
    pass


class Plugin36(Plugin):
    pass


class Plugin37(Plugin):
    pass


class Plugin38(Plugin):
    pass


class Plugin39(Plugin):
    pass


class Plugin40(Plugin):
    pass


class Plugin41(Plugin):
    pass


class Plugin42(Plugin):
    pass


class Plugin43(Plugin):
    pass


class Plugin44(Plugin):
    pass


class Plugin45(Plugin):
    pass


class Plugin46(Plugin):
    pass


class Plugin47(Plugin):
    pass


class Plugin48(Plugin):
    pass


class Plugin49(Plugin):
    pass


class Plugin50(Plugin):
    pass


class Plugin51(Plugin):
    pass


class Plugin52(Plugin):
    pass


class Plugin53(Plugin):
    pass


class Plugin54(Plugin):
    pass


class Plugin55(Plugin):
    pass


class Plugin56(Plugin):
    pass


class Plugin57(Plugin):
    pass


class Plugin58(Plugin):
    pass


class Plugin59(Plugin):
    pass


class Plugin60(Plugin):
    pass


class Plugin61(Plugin):
    pass


class Plugin62(Plugin):
    pass


class Plugin63(Plugin):
    pass


class Plugin64(Plugin):
    pass


class Plugin65(Plugin):
    pass


class Plugin66(Plugin):
    pass


class Plugin67(Plugin):
    pass


class Plugin68(Plugin):
    pass


class Plugin69(Plugin):
    pass
